// Reads {secret, headers, body} and exits with 0 if the reference library accepts the message.
import { Webhook } from 'standardwebhooks'
import { text } from 'node:stream/consumers'

const { secret, headers, body } = JSON.parse(await text(process.stdin))
new Webhook(secret).verify(body, headers)
