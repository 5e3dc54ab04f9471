func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}
