// Keeps the newest orders and what is read up to date.
import { refresh, whileVisible } from './parts.js'

whileVisible(3000, () => refresh().catch(() => false)) // a failed look is followed by the next
