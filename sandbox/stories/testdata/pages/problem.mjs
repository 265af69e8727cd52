// What a browser gets instead of a page that cannot be had.
export const pages = { problem: '/ordre/0x12' }
