#! test: lower
def f() -> (pi.INT64, pi.INT8, pi.UINT64, pi.FP32, pi.FP64, pi.BF16, pi.BOOL, pi.INT4):
    return 5, pi.INT8(-128), pi.UINT64(18446744073709551615), -0.0, pi.FP64(0.1), pi.BF16("inf"), True, pi.INT4(-3)
#> ptir 1
#>
#> func @f() -> (i64[], i8[], u64[], f32[], f64[], bf16[], bool[], i4[]) {
#>   %0 = constant 5 : i64[]
#>   %1 = constant -128 : i8[]
#>   %2 = constant 18446744073709551615 : u64[]
#>   %3 = constant -0.0 : f32[]
#>   %4 = constant 0.1 : f64[]
#>   %5 = constant inf : bf16[]
#>   %6 = constant true : bool[]
#>   %7 = constant -3 : i4[]
#>   return %0, %1, %2, %3, %4, %5, %6, %7
#> }
