import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, got, root } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { number, t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Badge, Button, Code, Curl, Failed, Loading, Notice, PageHead } from '../../ui/parts'
import { StateBadge } from '../../ui/state'
import { DeadLetters } from './dead-letters'
import { Hooks } from './hooks'
import type { Kind, Reference } from './kind'
import { Pairing } from './pairing'
import { needed, type Settings, SettingsForm } from './settings'

/** Reference shows one reference with all that belongs to it. */
export function Reference({ id }: { id: number }) {
  const reference = useQuery({ queryKey: ['reference', id], queryFn: () => got(api.GET('/reference/{id}', { params: { path: { id } } })) })
  const mayHooks = useMay('webhooks.manage')
  const mayWrite = useMay('references.write')
  const maySession = useMay('sessions.manage')
  const mayRead = useMay('chats.read')
  if (reference.isPending) return <Loading />
  if (reference.error && !reference.data) return <Failed error={reference.error} again={() => void reference.refetch()} />
  const one = reference.data
  const kind = one.type as Kind
  const unlinked = kind === 'provider-web' && !one.session.account
  return (
    <div className="page">
      <PageHead title={one.name}>
        <StateBadge session={one.session} brief />
        <Link className="button" href={`/inbox/${id}`}>
          {t('references.inbox')}
        </Link>
        <Link className="button" href={`/webhooks/${id}`}>
          {t('references.webhooks')}
        </Link>
      </PageHead>
      {unlinked && maySession && <Session reference={one} />}
      <Health reference={one} />
      {!unlinked && maySession && <Session reference={one} />}
      {mayRead && <DeadLetters reference={id} />}
      {mayHooks && <Hooks reference={id} />}
      {mayWrite && <Change reference={one} kind={kind} />}
      <Listeners id={id} />
      <Able reference={one} />
      {mayWrite && <Delete reference={one} />}
      <Curl path={`/reference/${id}`} />
    </div>
  )
}

function Health({ reference }: { reference: Reference }) {
  const { session } = reference
  const error = session.lastError
  return (
    <section className="card stack" aria-labelledby="health">
      <h2 id="health">{t('references.health')}</h2>
      {error && session.state !== 'CONNECTED' && (
        <Notice tone="bad">
          {error.code !== 'unknown' && <strong>{t(`trouble.${error.code}`)} </strong>}
          {error.message}
          {error.retryAt && ` ${t('references.retryAt', { at: time(error.retryAt) })}`}
        </Notice>
      )}
      <dl className="facts">
        <dt>{t('references.account')}</dt>
        <dd dir="auto">{session.account ? [session.account.name, session.account.id].filter(Boolean).join(' · ') : '–'}</dd>
        <dt>{t('references.connectedAt')}</dt>
        <dd>{time(session.connectedAt)}</dd>
        <dt>{t('references.lastInbound')}</dt>
        <dd>{time(session.health.lastInboundAt)}</dd>
        <dt>{t('references.lastAck')}</dt>
        <dd>{time(session.health.lastAckAt)}</dd>
        <dt>{t('references.lastProbe')}</dt>
        <dd>{time(session.health.lastProbeAt)}</dd>
      </dl>
    </section>
  )
}

function Session({ reference }: { reference: Reference }) {
  const [ending, setEnding] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: ['reference', reference.id] })
  const start = useAct(() => got(api.POST('/reference/session/start', { body: { reference: reference.id } })), { then: refresh })
  const end = useAct(() => got(api.POST('/reference/session/logout', { body: { reference: reference.id } })), {
    then: async () => {
      setEnding(false)
      await refresh()
    },
  })
  const web = reference.type === 'provider-web'
  const out = reference.session.state === 'LOGGED_OUT' || reference.session.state === 'STOPPED' || reference.session.state === 'FAILED'
  return (
    <section className="card stack" aria-labelledby="session">
      <h2 id="session">{t('references.session')}</h2>
      {web && reference.session.state !== 'CONNECTED' && <Pairing reference={reference} />}
      {!web && <p className="mute">{t('references.startText')}</p>}
      {!web && (reference.type === 'provider-cloud' || reference.type === 'provider-messenger') && (
        <>
          <p>{t('references.callback')}</p>
          <Code>{`${location.origin}${root}/webhooks/provider`}</Code>
        </>
      )}
      <div className="row">
        {!web && (
          <Button busy={start.isPending} onClick={() => start.mutate(undefined)}>
            {t('references.start')}
          </Button>
        )}
        {!out && (
          <Button tone="bad" onClick={() => setEnding(true)}>
            {t('references.logOut')}
          </Button>
        )}
      </div>
      {ending && <Confirm title={t('references.logOut')} text={t('references.logOutText')} action={t('references.logOut')} busy={end.isPending} run={() => end.mutate(undefined)} close={() => setEnding(false)} />}
    </section>
  )
}

function Change({ reference, kind }: { reference: Reference; kind: Kind }) {
  const [name, setName] = useState(reference.name)
  const [settings, setSettings] = useState<Settings>({})
  const act = useAct(
    () => {
      const changed = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''))
      return got(api.PATCH('/reference/{id}', { params: { path: { id: reference.id } }, body: { name, ...(Object.keys(changed).length > 0 ? { settings: changed } : {}) } }))
    },
    {
      said: t('saved'),
      then: async () => {
        setSettings({})
        await client.invalidateQueries({ queryKey: ['reference', reference.id] })
        await client.invalidateQueries({ queryKey: ['references'] })
      },
    },
  )
  return (
    <section className="card" aria-labelledby="settings">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <h2 id="settings">{t('references.settings')}</h2>
        <Input label={t('references.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} required />
        {needed(kind) && <SettingsForm kind={kind} value={settings} change={setSettings} kept={reference.settings as Record<string, unknown>} wrong={act.wrong} />}
        <div>
          <Button type="submit" busy={act.isPending}>
            {t('save')}
          </Button>
        </div>
      </form>
    </section>
  )
}

function Listeners({ id }: { id: number }) {
  const list = useQuery({ queryKey: ['triggers', id], queryFn: () => got(api.GET('/reference/{id}/triggers', { params: { path: { id } } })) })
  if (!list.data) return null
  return (
    <section className="card stack" aria-labelledby="listeners">
      <h2 id="listeners">{t('references.listeners')}</h2>
      {list.data.items.length === 0 ? (
        <p className="mute">{t('references.noListeners')}</p>
      ) : (
        <ol className="stack">
          {list.data.items.map((one) => (
            <li key={one.id} className="row">
              <Badge tone={one.enabled ? 'ok' : 'none'}>{one.engine}</Badge>
              <Link href={`/flows/${one.engine === 'botengine' ? 'bot' : 'flow'}/${one.id}`}>{one.name}</Link>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

function Able({ reference }: { reference: Reference }) {
  const able = reference.capabilities
  return (
    <details className="card">
      <summary>{t('references.able')}</summary>
      <dl className="facts">
        <dt>{t('references.sends')}</dt>
        <dd>{able.send.join(', ')}</dd>
        <dt>{t('references.media')}</dt>
        <dd>
          {Object.entries(able.media as Record<string, number>)
            .map(([type, bytes]) => `${type} ${number(bytes / 1048576, { maximumFractionDigits: 1 })} MB`)
            .join(', ') || '–'}
        </dd>
        <dt>{t('references.window')}</dt>
        <dd>{able.window === null ? t('references.noWindow') : t('references.hours', { n: able.window })}</dd>
      </dl>
    </details>
  )
}

function Delete({ reference }: { reference: Reference }) {
  const [, go] = useLocation()
  const [asking, setAsking] = useState(false)
  const act = useAct(() => got(api.DELETE('/reference/{id}', { params: { path: { id: reference.id } } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['references'], refetchType: 'all' })
      go('/references')
    },
  })
  return (
    <div>
      <Button tone="bad" icon="trash" onClick={() => setAsking(true)}>
        {t('references.delete')}
      </Button>
      {asking && <Confirm title={t('references.delete')} text={t('references.deleteText', { name: reference.name })} action={t('references.delete')} busy={act.isPending} run={() => act.mutate(undefined)} close={() => setAsking(false)} />}
    </div>
  )
}
