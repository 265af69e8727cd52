// The wallets that walks put into pages. They sign outside of the browser, see pages_wallet_test.go, but TRON's, which is
// TRON's own client library.
import { look } from './browser.mjs'

const { wallet } = look

// A call of the signing half, which is not the browser's to see.
async function sign(chain, method, params) {
  const answer = await (await fetch(wallet.url, { method: 'POST', body: JSON.stringify({ chain, method, params }) })).json()
  if (answer.error) throw new Error(answer.error)
  return answer.result
}

// inject puts an EVM wallet, announced as EIP-6963 has it and on another chain at first, and one of Solana into a page. The
// person refuses what refuse names, once in a visit. What is sent waits for a higher fee, until the same again or one of
// nothing takes its place, if instead is faster or nothing.
export async function inject(page, { announced = true, refuse = '', instead = '', account: own = wallet.evm, solana: ownOnSolana = wallet.solana } = {}) {
  await page.exposeFunction('signElsewhere', sign)
  await page.addInitScript(({ announced, refuse, instead, own, ownOnSolana }) => {
    let chain = 137
    const provider = {
      on() {},
      async request({ method, params = [] }) {
        if (method === refuse && !sessionStorage.refused) {
          sessionStorage.refused = true
          throw Object.assign(new Error('User rejected the request.'), { code: 4001 })
        }
        switch (method) {
          case 'eth_requestAccounts': return [own]
          case 'eth_chainId': return '0x' + chain.toString(16)
          case 'wallet_switchEthereumChain': chain = Number(params[0].chainId); return null
          case 'eth_sendTransaction': params = [...params, instead]
        }
        return window.signElsewhere(chain, method, params)
      },
    }
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info: { uuid: '1', name: 'Sandbox wallet', icon: '', rdns: 'example.sandbox' }, provider }) }))
    if (announced) addEventListener('eip6963:requestProvider', announce)
    else window.ethereum = provider
    const hex = (bytes) => '0x' + [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
    const account = { address: ownOnSolana, chains: ['solana:mainnet'] }
    const solana = {
      name: 'Sandbox wallet', accounts: [account], features: {
        'standard:connect': { connect: async () => ({ accounts: [account] }) },
        'solana:signAndSendTransaction': {
          signAndSendTransaction: async ({ transaction }) => {
            const signature = await window.signElsewhere(0, '', [hex(transaction)])
            return [{ signature: Uint8Array.from(signature.slice(2).match(/../g), (byte) => parseInt(byte, 16)) }]
          },
        },
      },
    }
    addEventListener('wallet-standard:app-ready', ({ detail: { register } }) => register(solana))
  }, { announced, refuse, instead, own, ownOnSolana })
}

// injectTRON puts a wallet of TRON into a page, announced as TIP-6963 has it, or as window.tron alone. It is on another chain
// at first and reaches no node: the page's policy lets none of its calls through.
export async function injectTRON(page, { announced = true, key = wallet.tron.key } = {}) {
  await page.addInitScript({ path: '../client/node_modules/tronweb/dist/TronWeb.js' })
  await page.addInitScript(({ announced, key }) => {
    const client = new window.TronWeb.TronWeb({ fullHost: 'http://tron.invalid', privateKey: key })
    let chain = '0x94a9059e'
    const provider = {
      on() {},
      tronWeb: client,
      async request({ method, params }) {
        switch (method) {
          case 'eth_requestAccounts': return [client.defaultAddress.base58]
          case 'eth_chainId': return chain
          case 'wallet_switchEthereumChain': chain = params[0].chainId; return null
        }
        throw Object.assign(new Error('Unsupported Method'), { code: 4200 })
      },
    }
    const announce = () => dispatchEvent(new CustomEvent('TIP6963:announceProvider', { detail: Object.freeze({ info: { uuid: '1', name: 'Sandbox wallet', icon: '', rdns: 'example.sandbox' }, provider }) }))
    if (announced) addEventListener('TIP6963:requestProvider', announce)
    else window.tron = provider
  }, { announced, key })
}
