import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got } from '../../api/client'
import { useUser } from '../../session'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Button, Curl, Failed, Loading, Refused } from '../../ui/parts'
import { Quotas } from './quotas'

const counts = ['references', 'users', 'messagesIn', 'messagesOut', 'deliveries'] as const

/** AccountPart is what the account has, its plan, and its end; and which server this is. */
export function AccountPart() {
  const owns = useUser().role === 'owner'
  const [ending, end] = useState(false)
  const account = useQuery({ queryKey: ['account'], queryFn: () => got(api.GET('/account')) })
  const probe = useQuery({ queryKey: ['probe'], queryFn: () => got(api.GET('/probe')) })
  if (account.isPending) return <Loading />
  if (account.error && !account.data) return <Failed error={account.error} again={() => void account.refetch()} />
  const { id, plan, status, currentPeriodEnd, usage, quotas } = account.data
  return (
    <>
      <section className="card stack" aria-labelledby="account">
        <h2 id="account">{t('settings.account')}</h2>
        <dl className="facts">
          <dt>{t('settings.id')}</dt>
          <dd className="mono">{id}</dd>
          <dt>{t('settings.plan')}</dt>
          <dd>{[plan ?? t('settings.noPlan'), status].filter(Boolean).join(', ')}</dd>
          {currentPeriodEnd !== null && (
            <>
              <dt>{t('settings.periodEnd')}</dt>
              <dd>{time(currentPeriodEnd, 'long')}</dd>
            </>
          )}
        </dl>
        <h3>{t('settings.used', { at: time(usage.since) })}</h3>
        <dl className="facts">
          {counts.map((name) => (
            <div key={name} className="fact">
              <dt>{t(`settings.${name}`)}</dt>
              <dd>{number(usage[name])}</dd>
            </div>
          ))}
          <div className="fact">
            <dt>{t('settings.mediaBytes')}</dt>
            <dd>{number(usage.mediaBytes / 1e6, { maximumFractionDigits: 1 })} MB</dd>
          </div>
        </dl>
      </section>
      <Quotas quotas={quotas} />
      <section className="card stack" aria-labelledby="server">
        <h2 id="server">{t('settings.server')}</h2>
        {probe.error && <Failed error={probe.error} again={() => void probe.refetch()} />}
        {probe.data && (
          <dl className="facts">
            <dt>{t('settings.version')}</dt>
            <dd>{probe.data.version}</dd>
            <dt>{t('settings.database')}</dt>
            <dd>{probe.data.database}</dd>
            <dt>{t('settings.startedAt')}</dt>
            <dd>{time(Math.floor(Date.now() / 1000) - probe.data.uptime, 'long')}</dd>
          </dl>
        )}
      </section>
      {owns && (
        <section className="card stack" aria-labelledby="end">
          <h2 id="end">{t('settings.end')}</h2>
          <p className="mute">{t('settings.endText')}</p>
          <div>
            <Button tone="bad" onClick={() => end(true)}>
              {t('settings.endDo')}
            </Button>
          </div>
        </section>
      )}
      <Curl path="/account" />
      {ending && <End close={() => end(false)} />}
    </>
  )
}

function End({ close }: { close: () => void }) {
  const [password, setPassword] = useState('')
  const act = useAct(() => got(api.DELETE('/account', { body: { password } })), { then: () => location.reload(), quiet: true })
  return (
    <Dialog title={t('settings.endDo')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p>{t('settings.endText')}</p>
        <Refused error={act.error} />
        <Input label={t('settings.currentPassword')} type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} wrong={act.wrong('password')} required />
        <div className="row">
          <Button type="submit" tone="bad" busy={act.isPending}>
            {t('settings.endDo')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
