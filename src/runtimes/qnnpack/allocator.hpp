// SPDX-License-Identifier: Apache-2.0
/// Where libtorch's tensors lie in this program.
#pragma once

namespace oplat::runtimes::qnnpack {

/// Makes libtorch allocate tensors from a pool of which each request gets the free block of its
/// size with the lowest address. A convolution of QNNPACK keeps the pointers into its input and
/// makes them anew where the input lies elsewhere; in Caffe2 a tensor lies where it lay in the run
/// before. From this pool it does so too: what a request gets depends on which blocks are free and
/// not on the order in which they were given back.
void install_allocator();
/// Gives free blocks back to the system.
void trim_allocator();

}  // namespace oplat::runtimes::qnnpack
