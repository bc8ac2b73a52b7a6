//! How are two rows compared, as fast as this machine can?
//!
//! Plain loops over contiguous memory, compiled once per instruction set and chosen at run time, so there is no
//! `unsafe` here and no machine without a path. Each call takes a whole block: the choice is paid once per block, not
//! once per row.

use multiversion::multiversion;

/// Rows whose sketches lie interleaved: word 0 of all eight, then word 1 of all eight, and so on. Eight words of one
/// kind fill one wide register, so distances come out side by side and nothing has to be summed across lanes.
pub(super) const LANES: usize = 8;

/// The inner product of `query` with each row of `codes`, into `products`.
///
/// A sum of 133,000 such products still fits its `i32`.
#[multiversion(targets = "simd")]
pub(super) fn products(query: &[i8], codes: &[i8], products: &mut [i32]) {
    for (row, product) in codes.chunks_exact(query.len()).zip(products) {
        *product = row.iter().zip(query).map(|(&left, &right)| i32::from(left) * i32::from(right)).sum();
    }
}

/// The number of differing bits between `query` and each row of `sketches`, into `distances`.
#[multiversion(targets = "simd")]
pub(super) fn distances(query: &[u64], sketches: &[u64], distances: &mut [u16]) {
    for (group, distances) in sketches.chunks_exact(query.len() * LANES).zip(distances.chunks_exact_mut(LANES)) {
        let mut sums = [0_u64; LANES];
        for (lanes, &word) in group.chunks_exact(LANES).zip(query) {
            for (sum, &lane) in sums.iter_mut().zip(lanes) {
                *sum += u64::from((lane ^ word).count_ones());
            }
        }
        for (distance, sum) in distances.iter_mut().zip(sums) {
            *distance = sum as u16;
        }
    }
}

/// The inner product of two vectors and the square of the second's length, in `f32`.
///
/// Summed in lanes: the order of a plain sum is fixed by the language, and would be walked one by one.
#[multiversion(targets = "simd")]
pub(super) fn product_and_square(left: &[f32], right: &[f32]) -> (f32, f32) {
    const WIDE: usize = 16;
    let (mut products, mut squares) = ([0.0; WIDE], [0.0; WIDE]);
    let (lefts, left) = left.as_chunks::<WIDE>();
    let (rights, right) = right.as_chunks::<WIDE>();
    for (left, right) in lefts.iter().zip(rights) {
        for lane in 0..WIDE {
            products[lane] += left[lane] * right[lane];
            squares[lane] += right[lane] * right[lane];
        }
    }
    let (mut product, mut square) = (products.iter().sum::<f32>(), squares.iter().sum::<f32>());
    for (left, right) in left.iter().zip(right) {
        product += left * right;
        square += right * right;
    }
    (product, square)
}
