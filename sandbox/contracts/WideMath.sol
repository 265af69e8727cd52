// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// @notice Products that do not fit into 256 bits.
library WideMath {
    error QuotientTooLarge();

    /// @notice floor(a * b / divisor), and whether nothing is left over.
    function mulDiv(uint256 a, uint256 b, uint256 divisor) internal pure returns (uint256 quotient, bool exact) {
        unchecked {
            uint256 low = a * b;
            // Modulo 2^256 - 1 the product is the sum of its halves.
            uint256 halves = mulmod(a, b, type(uint256).max);
            uint256 high = halves - low - (halves < low ? 1 : 0);
            if (high >= divisor) revert QuotientTooLarge();
            if (high == 0) return (low / divisor, low % divisor == 0);
            uint256 rest = high;
            for (uint256 bit = 256; bit-- > 0;) {
                bool carries = rest >> 255 == 1;
                rest = rest << 1 | (low >> bit & 1);
                if (carries || rest >= divisor) {
                    rest -= divisor;
                    quotient |= 1 << bit;
                }
            }
            exact = rest == 0;
        }
    }
}
