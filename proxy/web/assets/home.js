// Keeps the newest orders and what is read up to date.
import { refresh, whileVisible } from './parts.js'

whileVisible(10_000, () => refresh().catch(() => false))
