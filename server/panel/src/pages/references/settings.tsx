import { t } from '../../text'
import { Input } from '../../ui/field'
import type { Kind } from './kind'

/** Settings are what a reference needs, by their names in the API. */
export type Settings = Record<string, string>

const members: Record<Kind, readonly { name: Member; secret?: boolean }[]> = {
  'provider-sandbox': [],
  'provider-web': [],
  'provider-cloud': [
    { name: 'phoneNumberId' },
    { name: 'businessAccountId' },
    { name: 'accessToken', secret: true },
    { name: 'appSecret', secret: true },
    { name: 'verifyToken', secret: true },
  ],
  'provider-messenger': [{ name: 'pageId' }, { name: 'accessToken', secret: true }, { name: 'appSecret', secret: true }, { name: 'verifyToken', secret: true }],
}

type Member = 'phoneNumberId' | 'businessAccountId' | 'accessToken' | 'appSecret' | 'verifyToken' | 'pageId'

/** needed says whether a kind of reference has settings that must be given. */
export const needed = (kind: Kind) => members[kind].length > 0

/** SettingsForm asks for them. Secrets that are kept are only shown by their end; left empty, they stay. */
export function SettingsForm({ kind, value, change, kept, wrong }: { kind: Kind; value: Settings; change: (next: Settings) => void; kept?: Record<string, unknown>; wrong: (member: string) => string | undefined }) {
  return members[kind].map(({ name, secret }) => (
    <Input
      key={name}
      label={t(`setting.${name}`)}
      hint={t(`setting.${name}.hint`)}
      placeholder={secret && typeof kept?.[name] === 'string' ? kept[name] : undefined}
      autoComplete="off"
      spellCheck={false}
      value={value[name] ?? (secret ? '' : String(kept?.[name] ?? ''))}
      onChange={(event) => change({ ...value, [name]: event.target.value })}
      wrong={wrong(`settings.${name}`)}
      required={!kept}
    />
  ))
}
