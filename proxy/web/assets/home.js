// Keeps the newest orders and the state of the index up to date.
import { refresh, whileVisible } from './parts.js'

whileVisible(10_000, () => refresh().catch(() => false))
