import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { api, got, type Schemas } from '../../api/client'
import { client } from '../../api/query'
import { useMay } from '../../session'
import { number, t } from '../../text'
import { useAct } from '../../ui/act'
import { Icon } from '../../ui/icon'
import { Badge, Button, Failed, Loading, PageHead } from '../../ui/parts'
import { StateBadge } from '../../ui/state'
import { BudgetAlarms, FailedRuns, Failing } from './warnings'

type Reference = Schemas['MessagingReference']

/** Home says what to do first, and how everything is. */
export default function Home() {
  const mayReferences = useMay('references.read')
  const mayHooks = useMay('webhooks.manage')
  const mayChats = useMay('chats.read')
  const mayBots = useMay('bots.manage')
  const mayFlows = useMay('flows.manage')
  const references = useQuery({ queryKey: ['references', 'all'], queryFn: allReferences, enabled: mayReferences })
  const items = references.data ?? []
  const ids = items.map((reference) => reference.id)
  const endpoints = useQuery({ queryKey: ['hooks', 'all', ids], queryFn: () => each(ids, endpointsOf), enabled: mayHooks && ids.length > 0 })
  const chats = useQuery({ queryKey: ['home', 'chats', ids], queryFn: () => each(ids, chatsOf, true), enabled: mayChats && ids.length > 0 })
  const bots = useQuery({ queryKey: ['bots', 'all'], queryFn: () => got(api.GET('/bot/list', { params: { query: { limit: 200 } } })), enabled: mayBots })
  const may = { reference: mayReferences, message: mayChats, webhook: mayHooks, bot: mayBots || mayFlows }
  if (mayReferences && references.isPending) return <Loading />
  return (
    <div className="page">
      <PageHead title={t('home.title')} />
      {references.error && !references.data && <Failed error={references.error} again={() => void references.refetch()} />}
      {mayReferences && <Steps references={items} may={may} hooks={(endpoints.data ?? []).length > 0} messages={(chats.data ?? []).length > 0} bots={(bots.data?.items ?? []).some((bot) => bot.version > 0)} />}
      {mayHooks && <Failing endpoints={endpoints.data ?? []} />}
      <FailedRuns />
      <BudgetAlarms />
      {mayReferences && <States references={items} />}
    </div>
  )
}

/** States says how the references are, those that are not connected first. */
function States({ references }: { references: Reference[] }) {
  const order = references.toSorted((a, b) => Number(a.session.state === 'CONNECTED') - Number(b.session.state === 'CONNECTED'))
  const connected = references.filter((one) => one.session.state === 'CONNECTED').length
  return (
    <section className="card stack" aria-labelledby="home-references">
      <h2 id="home-references">{t('home.references')}</h2>
      {references.length === 0 ? <p className="mute">{t('home.noReferences')}</p> : <p className="mute">{t('home.connected', { n: number(connected), of: number(references.length) })}</p>}
      <ul className="stack">
        {order.slice(0, 10).map((reference) => (
          <li key={reference.id} className="row spread">
            <Link href={`/references/${reference.id}`}>{reference.name}</Link>
            <StateBadge session={reference.session} />
          </li>
        ))}
      </ul>
      {references.length > 10 && <Link href="/references">{t('home.allReferences')}</Link>}
    </section>
  )
}

async function allReferences(): Promise<Reference[]> {
  const all: Reference[] = []
  let cursor: string | null | undefined
  do {
    const page = await got(api.GET('/reference/list', { params: { query: { limit: 200, ...(cursor ? { cursor } : {}) } } }))
    all.push(...page.items)
    cursor = page.next
  } while (cursor)
  return all
}

/** each reads something of every reference, a few at a time, or until one has it. */
async function each<T>(ids: number[], read: (id: number) => Promise<T[]>, one = false): Promise<T[]> {
  const all: T[] = []
  for (let at = 0; at < ids.length && !(one && all.length > 0); at += 10) all.push(...(await Promise.all(ids.slice(at, at + 10).map(read))).flat())
  return all
}

const endpointsOf = (reference: number) => got(api.GET('/references/hookconf', { params: { query: { reference } } })).then((page) => page.items)
const chatsOf = (reference: number) => got(api.GET('/chats/list', { params: { query: { reference, limit: 1 } } })).then((page) => page.items)

function Steps({ references, may, hooks, messages, bots }: { references: Reference[]; may: Record<string, boolean>; hooks: boolean; messages: boolean; bots: boolean }) {
  const sandbox = references.find((reference) => reference.type === 'provider-sandbox')
  const first = sandbox ?? references[0]
  const all = [
    { name: 'reference', done: references.length > 0, action: <CreateSandbox /> },
    { name: 'message', done: messages, action: first && <Go to={`/inbox/${first.id}`} label={t('home.message')} /> },
    { name: 'webhook', done: hooks, action: first && <Go to={`/webhooks/${first.id}`} label={t('home.webhook')} /> },
    { name: 'bot', done: bots, action: first && <Go to="/flows" label={t('home.bot')} /> },
  ] as const
  const steps = all.filter((step) => may[step.name])
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
