import { t } from './text'

type Options = Record<string, unknown>

/** knowsPasskeys says whether the browser can make passkeys, and sign with them. */
export const knowsPasskeys = () => typeof PublicKeyCredential !== 'undefined' && 'parseRequestOptionsFromJSON' in PublicKeyCredential

/** makePasskey has the user's device make a passkey. */
export const makePasskey = (options: Options) =>
  asked(() => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options as unknown as PublicKeyCredentialCreationOptionsJSON) }))

/** signWithPasskey has the user choose a passkey, and the device sign with it. */
export const signWithPasskey = (options: Options) =>
  asked(() => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as unknown as PublicKeyCredentialRequestOptionsJSON) }))

/** asked is what a device has answered, for the server. Devices name their errors alone. */
async function asked(ask: () => Promise<Credential | null>): Promise<Options> {
  let answer: Credential | null
  try {
    answer = await ask()
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    throw new Error(t(name === 'InvalidStateError' ? 'passkeys.there' : name === 'NotAllowedError' ? 'passkeys.cancelled' : 'passkeys.failed'))
  }
  return (answer as PublicKeyCredential).toJSON() as Options
}
