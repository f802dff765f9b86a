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
import { Hooks } from './hooks'
import type { Kind, Reference } from './kind'
import { Pairing } from './pairing'
import { needed, type Settings, SettingsForm } from './settings'

/** Line shows one reference with all that belongs to it. */
export function Line({ id }: { id: number }) {
  const line = useQuery({ queryKey: ['reference', id], queryFn: () => got(api.GET('/reference/{id}', { params: { path: { id } } })) })
  const mayHooks = useMay('webhooks.manage')
  const mayWrite = useMay('references.write')
  const maySession = useMay('sessions.manage')
  if (line.isPending) return <Loading />
  if (line.error) return <Failed error={line.error} again={() => void line.refetch()} />
  const one = line.data
  const kind = one.type as Kind
  const unlinked = kind === 'provider-web' && !one.session.account
  return (
    <div className="page">
      <PageHead title={one.name}>
        <StateBadge session={one.session} brief />
        <Link className="button" href={`/inbox/${id}`}>
          {t('lines.inbox')}
        </Link>
        <Link className="button" href={`/webhooks/${id}`}>
          {t('lines.webhooks')}
        </Link>
      </PageHead>
      {unlinked && maySession && <Session line={one} />}
      <Health line={one} />
      {!unlinked && maySession && <Session line={one} />}
      {mayHooks && <Hooks reference={id} />}
      {mayWrite && <Change line={one} kind={kind} />}
      <Listeners id={id} />
      <Able line={one} />
      {mayWrite && <Delete line={one} />}
      <Curl path={`/reference/${id}`} />
    </div>
  )
}

function Health({ line }: { line: Reference }) {
  const { session } = line
  const error = session.lastError
  return (
    <section className="card stack" aria-labelledby="health">
      <h2 id="health">{t('lines.health')}</h2>
      {error && session.state !== 'CONNECTED' && (
        <Notice tone="bad">
          {error.code !== 'unknown' && <strong>{t(`trouble.${error.code}`)} </strong>}
          {error.message}
          {error.retryAt && ` ${t('lines.retryAt', { at: time(error.retryAt) })}`}
        </Notice>
      )}
      <dl className="facts">
        <dt>{t('lines.account')}</dt>
        <dd dir="auto">{session.account ? [session.account.name, session.account.id].filter(Boolean).join(' · ') : '–'}</dd>
        <dt>{t('lines.connectedAt')}</dt>
        <dd>{time(session.connectedAt)}</dd>
        <dt>{t('lines.lastInbound')}</dt>
        <dd>{time(session.health.lastInboundAt)}</dd>
        <dt>{t('lines.lastAck')}</dt>
        <dd>{time(session.health.lastAckAt)}</dd>
        <dt>{t('lines.lastProbe')}</dt>
        <dd>{time(session.health.lastProbeAt)}</dd>
      </dl>
    </section>
  )
}

function Session({ line }: { line: Reference }) {
  const [ending, setEnding] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: ['reference', line.id] })
  const start = useAct(() => got(api.POST('/reference/session/start', { body: { reference: line.id } })), { then: refresh })
  const end = useAct(() => got(api.POST('/reference/session/logout', { body: { reference: line.id } })), {
    then: async () => {
      setEnding(false)
      await refresh()
    },
  })
  const web = line.type === 'provider-web'
  const out = line.session.state === 'LOGGED_OUT' || line.session.state === 'STOPPED' || line.session.state === 'FAILED'
  return (
    <section className="card stack" aria-labelledby="session">
      <h2 id="session">{t('lines.session')}</h2>
      {web && line.session.state !== 'CONNECTED' && <Pairing line={line} />}
      {!web && <p className="mute">{t('lines.startText')}</p>}
      {!web && (line.type === 'provider-cloud' || line.type === 'provider-messenger') && (
        <>
          <p>{t('lines.callback')}</p>
          <Code>{`${location.origin}${root}/webhooks/provider`}</Code>
        </>
      )}
      <div className="row">
        {!web && (
          <Button busy={start.isPending} onClick={() => start.mutate(undefined)}>
            {t('lines.start')}
          </Button>
        )}
        {!out && (
          <Button tone="bad" onClick={() => setEnding(true)}>
            {t('lines.logOut')}
          </Button>
        )}
      </div>
      {ending && <Confirm title={t('lines.logOut')} text={t('lines.logOutText')} action={t('lines.logOut')} busy={end.isPending} run={() => end.mutate(undefined)} close={() => setEnding(false)} />}
    </section>
  )
}

function Change({ line, kind }: { line: Reference; kind: Kind }) {
  const [name, setName] = useState(line.name)
  const [settings, setSettings] = useState<Settings>({})
  const act = useAct(
    () => {
      const changed = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''))
      return got(api.PATCH('/reference/{id}', { params: { path: { id: line.id } }, body: { name, ...(Object.keys(changed).length > 0 ? { settings: changed } : {}) } }))
    },
    {
      said: t('saved'),
      then: async () => {
        setSettings({})
        await client.invalidateQueries({ queryKey: ['reference', line.id] })
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
        <h2 id="settings">{t('lines.settings')}</h2>
        <Input label={t('lines.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.wrong('name')} required />
        {needed(kind) && <SettingsForm kind={kind} value={settings} change={setSettings} kept={line.settings as Record<string, unknown>} wrong={act.wrong} />}
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
      <h2 id="listeners">{t('lines.listeners')}</h2>
      {list.data.items.length === 0 ? (
        <p className="mute">{t('lines.noListeners')}</p>
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

function Able({ line }: { line: Reference }) {
  const able = line.capabilities
  return (
    <details className="card">
      <summary>{t('lines.able')}</summary>
      <dl className="facts">
        <dt>{t('lines.sends')}</dt>
        <dd>{able.send.join(', ')}</dd>
        <dt>{t('lines.media')}</dt>
        <dd>
          {Object.entries(able.media as Record<string, number>)
            .map(([type, bytes]) => `${type} ${number(bytes / 1048576, { maximumFractionDigits: 1 })} MB`)
            .join(', ') || '–'}
        </dd>
        <dt>{t('lines.window')}</dt>
        <dd>{able.window === null ? t('lines.noWindow') : t('lines.hours', { n: able.window })}</dd>
      </dl>
    </details>
  )
}

function Delete({ line }: { line: Reference }) {
  const [, go] = useLocation()
  const [asking, setAsking] = useState(false)
  const act = useAct(() => got(api.DELETE('/reference/{id}', { params: { path: { id: line.id } } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: ['references'], refetchType: 'all' })
      go('/references')
    },
  })
  return (
    <div>
      <Button tone="bad" icon="trash" onClick={() => setAsking(true)}>
        {t('lines.delete')}
      </Button>
      {asking && <Confirm title={t('lines.delete')} text={t('lines.deleteText', { name: line.name })} action={t('lines.delete')} busy={act.isPending} run={() => act.mutate(undefined)} close={() => setAsking(false)} />}
    </div>
  )
}
