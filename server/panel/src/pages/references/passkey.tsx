import { type FormEvent, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { TextArea } from '../../ui/field'
import { Button, Code, Refused } from '../../ui/parts'
import type { Reference } from './kind'

type Asked = NonNullable<Reference['session']['passkey']>

/** script asks a browser for the passkey. It runs on WhatsApp's page: a browser signs only for the site to which a passkey belongs. */
const script = (options: unknown) =>
  `const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)});
const credential = await navigator.credentials.get({ publicKey });
console.log(JSON.stringify(credential.toJSON()));`

/** Passkey answers the request for the passkey of an account: with its signature, and if there is a code, by comparing it. */
export function Passkey({ reference, asked }: { reference: number; asked: Asked }) {
  const [answer, setAnswer] = useState('')
  const [unread, setUnread] = useState(false)
  const act = useAct((body: { credential: never } | { confirmed: true }) => got(api.POST('/reference/session/passkey', { body: { reference, ...body } })), {
    then: () => client.invalidateQueries({ queryKey: ['reference', reference] }),
  })
  if (asked.code) {
    return (
      <div className="stack">
        <p role="status">{t('passkey.compare')}</p>
        <strong className="mono pairing-code">{asked.code}</strong>
        <Refused error={act.error} />
        <div className="row">
          <Button tone="main" busy={act.isPending} onClick={() => act.mutate({ confirmed: true })}>
            {t('passkey.same')}
          </Button>
        </div>
      </div>
    )
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    try {
      act.mutate({ credential: JSON.parse(answer) as never })
      setUnread(false)
    } catch {
      setUnread(true)
    }
  }
  return (
    <form className="stack" onSubmit={send}>
      <p role="status">{t('passkey.asked')}</p>
      <ol className="steps">
        <li>{t('passkey.step1')}</li>
        <li>{t('passkey.step2')}</li>
        <li>{t('passkey.step3')}</li>
      </ol>
      <Code>{script(asked.options)}</Code>
      <TextArea label={t('passkey.answer')} rows={4} value={answer} onChange={(event) => setAnswer(event.target.value)} wrong={unread ? t('passkey.unread') : undefined} required />
      <Refused error={act.error} />
      <div className="row">
        <Button type="submit" tone="main" busy={act.isPending}>
          {t('passkey.send')}
        </Button>
      </div>
    </form>
  )
}
