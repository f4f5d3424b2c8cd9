#! test: lower
def f(n: pi.INT64, k: pi.INT64) -> pi.INT64:
    s = 0
    for i in range(0, n, k):
        s = s + i
    return s
#> ptir 1
#>
#> func @f(%n: i64[], %k: i64[]) -> i64[] {
#>   %0 = constant 0 : i64[]
#>   %1 = constant 1 : u64[]
#>   %2 = constant 0 : u64[]
#>   %3 = compare %0, %n {direction = lt} : bool[]
#>   %4 = compare %k, %0 {direction = gt} : bool[]
#>   %5 = and %3, %4 : bool[]
#>   %6 = sub %n, %0 : i64[]
#>   %7 = compare %0, %n {direction = gt} : bool[]
#>   %8 = compare %k, %0 {direction = lt} : bool[]
#>   %9 = and %7, %8 : bool[]
#>   %10 = sub %0, %n : i64[]
#>   %11 = select %5, %6, %10 : i64[]
#>   %12 = abs %k : i64[]
#>   %13 = or %5, %9 : bool[]
#>   %14 = cast %11 : u64[]
#>   %15 = cast %12 : u64[]
#>   %16 = sub %14, %1 : u64[]
#>   %17 = div %16, %15 : u64[]
#>   %18 = add %17, %1 : u64[]
#>   %19 = select %13, %18, %2 : u64[]
#>   %20, %i, %s = while %19, %0, %0 (%21: u64[], %i_1: i64[], %s_1: i64[]) {
#>     %22 = compare %21, %2 {direction = ne} : bool[]
#>     yield %22
#>   } (%23: u64[], %i_2: i64[], %s_2: i64[]) {
#>     %s_3 = add %s_2, %i_2 : i64[]
#>     %24 = sub %23, %1 : u64[]
#>     %25 = add %i_2, %k : i64[]
#>     yield %24, %25, %s_3
#>   } : u64[], i64[], i64[]
#>   return %s
#> }
def f(n: pi.UINT8) -> pi.UINT8:
    s = pi.UINT8(0)
    for i in range(pi.UINT8(0), n, pi.UINT8(3)):
        s = s + i
    return s
#> ptir 1
#>
#> func @f(%n: u8[]) -> u8[] {
#>   %0 = constant 0 : u8[]
#>   %1 = constant 3 : u8[]
#>   %2 = constant 1 : u8[]
#>   %3 = compare %0, %n {direction = lt} : bool[]
#>   %4 = compare %1, %0 {direction = gt} : bool[]
#>   %5 = and %3, %4 : bool[]
#>   %6 = sub %n, %0 : u8[]
#>   %7 = sub %6, %2 : u8[]
#>   %8 = div %7, %1 : u8[]
#>   %9 = add %8, %2 : u8[]
#>   %10 = select %5, %9, %0 : u8[]
#>   %11, %i, %s = while %10, %0, %0 (%12: u8[], %i_1: u8[], %s_1: u8[]) {
#>     %13 = compare %12, %0 {direction = ne} : bool[]
#>     yield %13
#>   } (%14: u8[], %i_2: u8[], %s_2: u8[]) {
#>     %s_3 = add %s_2, %i_2 : u8[]
#>     %15 = sub %14, %2 : u8[]
#>     %16 = add %i_2, %1 : u8[]
#>     yield %15, %16, %s_3
#>   } : u8[], u8[], u8[]
#>   return %s
#> }
def f(n: pi.UINT8) -> pi.UINT8:
    for i in range(n, pi.UINT8(200), pi.UINT8(3)):
        n = n + i
    return n
#> ptir 1
#>
#> func @f(%n: u8[]) -> u8[] {
#>   %0 = constant 200 : u8[]
#>   %1 = constant 3 : u8[]
#>   %i, %n_1 = while %n, %n (%i_1: u8[], %n_2: u8[]) {
#>     %2 = compare %i_1, %0 {direction = lt} : bool[]
#>     yield %2
#>   } (%i_2: u8[], %n_3: u8[]) {
#>     %n_4 = add %n_3, %i_2 : u8[]
#>     %3 = add %i_2, %1 : u8[]
#>     yield %3, %n_4
#>   } : u8[], u8[]
#>   return %n_1
#> }
