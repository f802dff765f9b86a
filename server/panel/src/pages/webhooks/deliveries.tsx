import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { client, usePages } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Input, Select } from '../../ui/field'
import { Badge, Button, Curl, Failed, Loading, More, type Tone } from '../../ui/parts'
import { useFilter } from '../../ui/query-state'
import { Answer } from './attempts'
import { events } from './events'
import type { Endpoint } from './target'

type Delivery = Schemas['Delivery']

const tones: Record<Delivery['state'], Tone> = { pending: 'warn', delivered: 'ok', failed: 'warn', dead: 'bad' }

/** Deliveries is the log of a reference, newest first, which follows what happens. */
export function Deliveries({ reference, endpoints }: { reference: number; endpoints: Endpoint[] }) {
  const [endpoint, setEndpoint] = useFilter('endpoint')
  const [state, setState] = useFilter('state')
  const [event, setEvent] = useFilter('event')
  const [chatId, setChat] = useFilter('chat')
  const query = {
    reference,
    ...(endpoint ? { endpoint } : {}),
    ...(state ? { state: state as Delivery['state'] } : {}),
    ...(event ? { event } : {}),
    ...(chatId ? { chatId } : {}),
  }
  const key = ['deliveries', reference, query]
  const list = usePages(key, (cursor) => got(api.GET('/references/deliveries', { params: { query: { ...query, ...(cursor ? { cursor } : {}) } } })))
  const any = { value: '', label: t('all') }
  return (
    <section className="card stack" aria-labelledby="deliveries">
      <div className="row spread">
        <h2 id="deliveries">{t('webhooks.deliveries')}</h2>
        <ReplayFailed endpoints={endpoints} chosen={endpoint} reference={reference} />
      </div>
      <div className="filters">
        <Select label={t('webhooks.endpoint')} value={endpoint} onChange={(e) => setEndpoint(e.target.value)} options={[any, ...endpoints.map((one) => ({ value: one.endpointId, label: one.webhook }))]} />
        <Select label={t('webhooks.state')} value={state} onChange={(e) => setState(e.target.value)} options={[any, ...Object.keys(tones).map((value) => ({ value, label: t(`delivery.${value as Delivery['state']}`) }))]} />
        <Select label={t('webhooks.event')} value={event} onChange={(e) => setEvent(e.target.value)} options={[any, ...events.map((value) => ({ value, label: value }))]} />
        <Input label={t('webhooks.chat')} value={chatId} onChange={(e) => setChat(e.target.value)} />
      </div>
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isSuccess && list.items.length === 0 && <p className="mute">{t('webhooks.noDeliveries')}</p>}
      <ul>
        {list.items.map((one) => (
          <Row key={one.id} delivery={one} reference={reference} />
        ))}
      </ul>
      <More list={list} />
      <Curl path={`/references/deliveries?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}`} />
    </section>
  )
}

function Row({ delivery, reference }: { delivery: Delivery; reference: number }) {
  const act = useAct(() => got(api.POST('/references/deliveries/replay', { body: { ids: [delivery.id] } })), {
    said: t('webhooks.replayed'),
    then: () => client.invalidateQueries({ queryKey: ['deliveries', reference] }),
  })
  return (
    <li className="delivery">
      <details>
        <summary className="row" data-row>
          <Badge tone={tones[delivery.state]}>{t(`delivery.${delivery.state}`)}</Badge>
          <span className="grow">
            <strong>{delivery.event}</strong> <span className="mono mute">#{delivery.sequence}</span> <span dir="auto">{delivery.chatId}</span>
          </span>
          <span className="small mute">
            {t('webhooks.tries', { n: delivery.attempts.length })} · {time(delivery.createdAt)}
          </span>
        </summary>
        <div className="stack attempts">
          {delivery.nextAttemptAt !== null && <p>{t('webhooks.next', { at: time(delivery.nextAttemptAt, 'long') })}</p>}
          {delivery.attempts.map((attempt, at) => (
            <Answer key={at} attempt={attempt} />
          ))}
          <div>
            <Button busy={act.isPending} onClick={() => act.mutate(undefined)}>
              {t('webhooks.replay')}
            </Button>
          </div>
        </div>
      </details>
    </li>
  )
}

/** ReplayFailed sends again what an endpoint has missed since a time. */
function ReplayFailed({ endpoints, chosen, reference }: { endpoints: Endpoint[]; chosen: string; reference: number }) {
  const [open, setOpen] = useState(false)
  const [hours, setHours] = useState('24')
  const endpoint = chosen || endpoints[0]?.endpointId || ''
  const act = useAct(
    async () => {
      const now = Math.floor(Date.now() / 1000)
      const since = now - Number(hours) * 3600
      const dead = await got(api.POST('/references/deliveries/replay', { body: { endpoint, since, until: now, state: 'dead' } }))
      const failed = await got(api.POST('/references/deliveries/replay', { body: { endpoint, since, until: now, state: 'failed' } }))
      return dead.queued + failed.queued
    },
    {
      then: async () => {
        setOpen(false)
        await client.invalidateQueries({ queryKey: ['deliveries', reference] })
      },
    },
  )
  return (
    <div className="row">
      {act.isSuccess && <span role="status">{t('webhooks.queued', { n: act.data })}</span>}
      {open ? (
        <>
          <Select label={t('webhooks.since')} value={hours} onChange={(e) => setHours(e.target.value)} options={['1', '24', '168'].map((value) => ({ value, label: t('webhooks.hours', { n: value }) }))} />
          <Button tone="main" busy={act.isPending} onClick={() => act.mutate(undefined)}>
            {t('webhooks.replay')}
          </Button>
        </>
      ) : (
        <Button onClick={() => setOpen(true)}>{t('webhooks.replayFailed')}</Button>
      )}
    </div>
  )
}
