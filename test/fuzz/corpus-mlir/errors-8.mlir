func.func @constant_d1_long() {
  %c = osa.constant {value = dense_resource<w> : tensor<2xf32>} : () -> tensor<2xf32>
  return
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000803F0000803F"
    }
  }
#-}
