func.func @product(%a: !num.fixed<8, 24>, %b: !num.fixed<8, 24>) -> !num.fixed<8, 24> {
  %p = num.mul %a, %b rounding(nearest_even) overflow(wrap) : !num.fixed<8, 24>
  return %p : !num.fixed<8, 24>
}
func.func @sum(%t: tensor<2x!num.fixed<4, 4>>, %a: !num.fixed<4, 8, unsigned>) -> !num.fixed<4, 8, unsigned> {
  %s = num.add %a, %a rounding(up) overflow(saturate) : !num.fixed<4, 8, unsigned>
  return %s : !num.fixed<4, 8, unsigned>
}
func.func @half(%a: !num.float<5, 10>) -> !num.float<5, 10> {
  %s = num.div %a, %a rounding(up) overflow(infinity) : !num.float<5, 10>
  return %s : !num.float<5, 10>
}
