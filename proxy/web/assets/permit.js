// Permits of tokens (EIP-2612): approvals that are signed instead of sent, and used by the transaction that needs them.
import { bytesOf, calling } from './signing.js'

const life = 20 * 60 // seconds
const kind = '0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9' // PERMIT_TYPEHASH; DAI's differs
const [nonces, typehash, eip712Domain, named, versioned] = ['0x7ecebe00', '0x30adf81f', '0x84b0196e', '0x06fdde03', '0x54fd4d50']

const word = (hex, n) => hex.slice(2 + 64 * n, 66 + 64 * n)

// The string that an answer's nth word points to, empty if there is none.
function textAt(hex, n) {
  const at = parseInt(word(hex, n), 16) / 32
  const length = parseInt(word(hex, at), 16)
  return length > 0 ? new TextDecoder().decode(bytesOf('0x' + hex.slice(66 + 64 * at)).subarray(0, length)) : ''
}

// A function that signs a permit of the input and resolves to its envelope; null if the token has no permits, or does
// not reveal its domain, by EIP-5267 or, like USDC, by its name and version.
export async function permitOf(wallet, { tx, native, tokenIn: { address, amount } }) {
  const ask = (selector, ...values) => wallet.request('eth_call', { to: address, data: calling(selector, ...values) }, 'latest').catch(() => '0x')
  const [nonce, type, domain, ...own] = await Promise.all([ask(nonces, wallet.account), ...[typehash, eip712Domain, named, versioned].map((each) => ask(each))])
  const [name, version] = word(domain, 0).startsWith('0f') ? [1, 2].map((n) => textAt(domain, n)) : own.map((each) => textAt(each, 0))
  if (nonce.length !== 66 || !name || !version || (type !== '0x' && type !== kind)) return null
  const fields = (...all) => all.map((each) => each.split(' ')).map(([type, name]) => ({ type, name }))
  return async () => {
    const deadline = BigInt(Math.floor(Date.now() / 1000) + life)
    const signature = await wallet.request('eth_signTypedData_v4', wallet.account, JSON.stringify({
      types: {
        EIP712Domain: fields('string name', 'string version', 'uint256 chainId', 'address verifyingContract'),
        Permit: fields('address owner', 'address spender', 'uint256 value', 'uint256 nonce', 'uint256 deadline'),
      },
      primaryType: 'Permit', domain: { name, version, chainId: Number(native), verifyingContract: address },
      message: { owner: wallet.account, spender: tx.to, value: amount, nonce: String(BigInt(nonce)), deadline: String(deadline) },
    }))
    if (!/^0x[0-9a-f]{130}$/i.test(signature)) throw new Error('Tokens do not accept signatures of this wallet. Approve the amount instead.')
    return calling('0x', BigInt(amount), deadline) + signature.slice(2)
  }
}
