import { type FormEvent, useEffect, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Input } from '../../ui/field'
import { Button, Copy } from '../../ui/parts'
import type { Reference } from './kind'
import { Passkey } from './passkey'

/** Pairing links a phone: by a QR code, which is replaced as it rotates, or by a code that is typed there. */
export function Pairing({ reference }: { reference: Reference }) {
  const [phone, setPhone] = useState('')
  const [typed, setTyped] = useState(false)
  const { session } = reference
  const act = useAct((method: 'qr' | 'code') => got(api.POST('/reference/session/start', { body: { reference: reference.id, method, ...(method === 'code' ? { phone } : {}) } })), {
    then: () => client.invalidateQueries({ queryKey: ['reference', reference.id] }),
  })
  const byCode = (event: FormEvent) => {
    event.preventDefault()
    act.mutate('code')
  }
  if (session.state === 'STARTING') return <p role="status">{t('pairing.starting')}</p>
  if (session.state === 'RECONNECTING') return <p role="status">{t('pairing.reconnecting')}</p>
  if (session.passkey) return <Passkey reference={reference.id} asked={session.passkey} />
  return (
    <div className="stack">
      {session.qr && (
        <div className="pairing">
          <img src={session.qr.image} width={232} height={232} alt={t('pairing.qr')} />
          <div className="stack">
            <ol className="steps">
              <li>{t('pairing.step1')}</li>
              <li>{t('pairing.step2')}</li>
              <li>{t('pairing.step3')}</li>
            </ol>
            <Countdown key={session.qr.code} until={session.qr.expiresAt} />
          </div>
        </div>
      )}
      {session.pairingCode && (
        <ol className="steps">
          <li>{t('pairing.step1')}</li>
          <li>{t('pairing.step2')}</li>
          <li>{t('pairing.stepCode')}</li>
          <li>
            <span className="row">
              {t('pairing.code')} <strong className="mono pairing-code">{session.pairingCode}</strong> <Copy text={session.pairingCode} />
            </span>
          </li>
        </ol>
      )}
      {!session.qr && !session.pairingCode && (
        <div className="row">
          <Button tone="main" busy={act.isPending} onClick={() => act.mutate('qr')}>
            {t('pairing.start')}
          </Button>
        </div>
      )}
      {!session.pairingCode &&
        (typed ? (
          <form className="row" onSubmit={byCode}>
            <Input label={t('pairing.phone')} hint={t('pairing.phoneHint')} inputMode="tel" autoComplete="tel" value={phone} onChange={(event) => setPhone(event.target.value)} wrong={act.wrong('phone')} required />
            <Button type="submit" busy={act.isPending}>
              {t('pairing.getCode')}
            </Button>
          </form>
        ) : (
          <div>
            <Button tone="quiet" onClick={() => setTyped(true)}>
              {t('pairing.noCamera')}
            </Button>
          </div>
        ))}
    </div>
  )
}

/** Countdown says how long a code can still be read; the next one replaces it. */
function Countdown({ until }: { until: number }) {
  const [left, setLeft] = useState(() => until - Date.now() / 1000)
  useEffect(() => {
    const timer = setInterval(() => setLeft(until - Date.now() / 1000), 1_000)
    return () => clearInterval(timer)
  }, [until])
  return <p className="mute">{left > 0 ? t('pairing.left', { n: Math.ceil(left) }) : t('pairing.expired')}</p>
}
