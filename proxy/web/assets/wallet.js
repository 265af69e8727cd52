// The wallets of this browser: EIP-6963 and EIP-1193 for EVM chains, TIP-6963 and TIP-1193 for TRON, the Wallet
// Standard for Solana.
const found = new Map() // by what distinguishes them
const families = { evm: new Set(), tron: new Set(), solana: new Set() }
export const wallets = (family) => [...(families[family] ?? [])].map((id) => found.get(id))

// Returns the only wallet, or asks in a dialog if there are several.
export function choose(offered) {
  if (offered.length === 1) return offered[0]
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-label', 'Wallets')
  return new Promise((resolve, reject) => {
    for (const each of offered) {
      const button = document.createElement('button')
      button.textContent = each.name
      button.addEventListener('click', () => { resolve(each); dialog.close() })
      dialog.append(button)
    }
    dialog.addEventListener('close', () => { dialog.remove(); reject(new Error('No wallet was chosen.')) })
    document.body.append(dialog)
    dialog.showModal()
  })
}

let notify = () => {}
export const onWallets = (changed) => { notify = changed }

function add(family, id, wallet) {
  found.set(id, wallet)
  families[family].add(id)
  notify()
}

// The account that a wallet shares; some share none if a person refuses or the wallet is locked.
function shared([account]) {
  if (!account) throw new Error('The wallet shares no account. Unlock it, then try again.')
  return account
}

function addProvider(family, id, name, provider) {
  const request = (method, ...params) => provider.request({ method, params })
  add(family, `${family} ${id}`, {
    name,
    async connect() {
      const account = shared(await request('eth_requestAccounts'))
      const calls = family === 'tron' ? (await import('./tron.js')).callsOf(provider) : { request, hex: (address) => address }
      return { name, account, ...calls, onAccount: (changed) => provider.on?.('accountsChanged', ([next]) => changed(next)) }
    },
  })
}

for (const [family, standard, member, name] of [['evm', 'eip6963', 'ethereum', 'Browser wallet'], ['tron', 'TIP6963', 'tron', 'TRON wallet']]) {
  addEventListener(`${standard}:announceProvider`, ({ detail: { info, provider } }) => addProvider(family, info.uuid, info.name, provider))
  dispatchEvent(new Event(`${standard}:requestProvider`))
  if (window[member] && families[family].size === 0) addProvider(family, member, name, window[member])
}

// https://github.com/wallet-standard/wallet-standard, https://github.com/anza-xyz/wallet-standard
function register(...registered) {
  for (const wallet of registered) {
    const { 'standard:connect': connecting, 'standard:events': events, 'solana:signAndSendTransaction': sending } = wallet.features
    if (!connecting || !sending) continue
    add('solana', wallet, {
      name: wallet.name,
      async connect() {
        let account = shared((await connecting.connect()).accounts)
        const send = async (transaction) => base58((await sending.signAndSendTransaction({ account, chain: 'solana:mainnet', transaction }))[0].signature)
        const onAccount = (changed) => events?.on('change', ({ accounts }) => {
          if (!accounts) return
          account = accounts[0]
          changed(account?.address)
        })
        return { name: wallet.name, account: account.address, send, onAccount }
      },
    })
  }
  return () => {}
}

addEventListener('wallet-standard:register-wallet', ({ detail: callback }) => callback({ register }))
dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }))

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function base58(bytes) {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text
  return '1'.repeat(bytes.findIndex((byte) => byte !== 0)) + text
}
