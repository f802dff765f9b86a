import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Icon } from '../../ui/icon'
import { Badge, Button, Failed, Loading, Notice, PageHead } from '../../ui/parts'
import { StateBadge } from '../../ui/state'

type Reference = Schemas['MessagingReference']
type Endpoint = Schemas['Endpoint']

/** Home says what to do first, and how everything is. */
export default function Home() {
  const mayReferences = useMay('references.read')
  const mayHooks = useMay('webhooks.manage')
  const mayChats = useMay('chats.read')
  const mayBots = useMay('bots.manage')
  const references = useQuery({ queryKey: ['references'], queryFn: () => got(api.GET('/reference/list', { params: { query: { limit: 200 } } })), enabled: mayReferences })
  const items = references.data?.items ?? []
  const ids = items.slice(0, 20).map((reference) => reference.id)
  const endpoints = useQuery({ queryKey: ['home', 'endpoints', ids], queryFn: () => each(ids, endpointsOf), enabled: mayHooks && ids.length > 0 })
  const chats = useQuery({ queryKey: ['home', 'chats', ids], queryFn: () => each(ids, chatsOf), enabled: mayChats && ids.length > 0 })
  const bots = useQuery({ queryKey: ['home', 'bots', ids], queryFn: () => each(ids, botsOf), enabled: mayBots && ids.length > 0 })
  if (mayReferences && references.isPending) return <Loading />
  return (
    <div className="page">
      <PageHead title={t('home.title')} />
      {references.error && <Failed error={references.error} again={() => void references.refetch()} />}
      {mayReferences && <Steps references={items} hooks={(endpoints.data ?? []).length > 0} messages={(chats.data ?? []).length > 0} bots={(bots.data ?? []).some((bot) => bot.version > 0)} />}
      {mayReferences && (
        <div className="card stack">
          <h2>{t('home.references')}</h2>
          {items.length === 0 ? (
            <p className="mute">{t('home.noReferences')}</p>
          ) : (
            <ul className="stack">
              {items.map((reference) => (
                <li key={reference.id} className="row spread">
                  <Link href={`/references/${reference.id}`}>{reference.name}</Link>
                  <StateBadge session={reference.session} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      {mayHooks && <Failing endpoints={endpoints.data ?? []} />}
    </div>
  )
}

async function each<T>(ids: number[], read: (id: number) => Promise<T[]>): Promise<T[]> {
  return (await Promise.all(ids.map(read))).flat()
}

const endpointsOf = (reference: number) => got(api.GET('/references/hookconf', { params: { query: { reference } } })).then((page) => page.items)
const chatsOf = (reference: number) => got(api.GET('/chats/list', { params: { query: { reference, limit: 1 } } })).then((page) => page.items)
const botsOf = (reference: number) => got(api.GET('/bot/list', { params: { query: { reference, limit: 50 } } })).then((page) => page.items)

function Steps({ references, hooks, messages, bots }: { references: Reference[]; hooks: boolean; messages: boolean; bots: boolean }) {
  const sandbox = references.find((reference) => reference.type === 'provider-sandbox')
  const first = sandbox ?? references[0]
  const steps = [
    { name: 'reference', done: references.length > 0, action: <CreateSandbox /> },
    { name: 'message', done: messages, action: first && <Go to={`/inbox/${first.id}`} label={t('home.message')} /> },
    { name: 'webhook', done: hooks, action: first && <Go to={`/webhooks/${first.id}`} label={t('home.webhook')} /> },
    { name: 'bot', done: bots, action: first && <Go to="/flows" label={t('home.bot')} /> },
  ] as const
  if (steps.every((step) => step.done)) return null
  return (
    <section className="card stack" aria-labelledby="first-steps">
      <h2 id="first-steps">{t('home.first')}</h2>
      <p className="mute">{t('home.firstText')}</p>
      <ol className="stack">
        {steps.map((step, at) => (
          <li key={step.name} className="row spread">
            <span className="row" style={{ flex: '1 1 220px', flexWrap: 'nowrap' }}>
              <Badge tone={step.done ? 'ok' : 'none'}>{step.done ? <Icon name="check" size={14} /> : at + 1}</Badge>
              <span className="grow">
                <strong>{t(`home.${step.name}`)}</strong>
                <br />
                <span className="mute">{t(`home.${step.name}Text`)}</span>
              </span>
            </span>
            {step.done ? <Badge tone="ok">{t('home.done')}</Badge> : step.action}
          </li>
        ))}
      </ol>
    </section>
  )
}

function Go({ to, label }: { to: string; label: string }) {
  return (
    <Link className="button" href={to}>
      {label}
    </Link>
  )
}

function CreateSandbox() {
  const [, go] = useLocation()
  const may = useMay('references.write')
  const act = useAct(() => got(api.POST('/reference', { body: { name: t('home.sandboxName'), type: 'provider-sandbox' } })), {
    then: async (reference) => {
      await client.invalidateQueries({ queryKey: ['references'] })
      go(`/inbox/${reference.id}`)
    },
  })
  if (!may) return null
  return (
    <Button tone="main" busy={act.isPending} onClick={() => act.mutate(undefined)}>
      {t('home.create')}
    </Button>
  )
}

function Failing({ endpoints }: { endpoints: Endpoint[] }) {
  const failing = endpoints.filter((endpoint) => endpoint.state !== 'ok')
  return (
    <section className="card stack" aria-labelledby="failing">
      <h2 id="failing">{t('home.failing')}</h2>
      {failing.length === 0 ? (
        <p className="mute">{t('home.noFailing')}</p>
      ) : (
        failing.map((endpoint) => (
          <Notice key={endpoint.endpointId} tone="warn">
            <Link href={`/webhooks/${endpoint.reference}`}>{endpoint.webhook}</Link> – {endpoint.lastError ?? endpoint.state}
          </Notice>
        ))
      )}
    </section>
  )
}
