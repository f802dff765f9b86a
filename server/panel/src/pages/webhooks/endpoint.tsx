import { useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { type Header, Headers } from '../../ui/headers'
import { EndpointBadge, EndpointTrouble } from '../../ui/endpoint-state'
import { Button, Code, Notice } from '../../ui/parts'
import { Answer } from './attempts'
import { Events } from './events'
import { type Format, FormatChoice, nameOf } from './format'
import type { Endpoint } from './target'

const path = (endpoint: Endpoint) => ({ params: { path: { endpointId: endpoint.endpointId } } })

/** EndpointCard is one endpoint with what can be done with it. */
export function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const [open, setOpen] = useState<'change' | 'delete' | 'rotate' | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ['hooks', endpoint.reference] })
  const test = useAct(() => got(api.POST('/references/hookconf/{endpointId}/test', path(endpoint))), {
    then: () => client.invalidateQueries({ queryKey: ['deliveries', endpoint.reference] }),
  })
  const enable = useAct(() => got(api.PATCH('/references/hookconf/{endpointId}', { ...path(endpoint), body: { enabled: !endpoint.enabled } })), { then: refresh })
  const remove = useAct(() => got(api.DELETE('/references/hookconf/{endpointId}', path(endpoint))), { then: refresh })
  const rotate = useAct(() => got(api.PATCH('/references/hookconf/{endpointId}', { ...path(endpoint), body: { rotateSecret: true } })))
  return (
    <article className="card stack" aria-label={endpoint.webhook}>
      <div className="row spread">
        <strong className="mono grow">{endpoint.webhook}</strong>
        <EndpointBadge endpoint={endpoint} />
      </div>
      <p className="small mute">
        {endpoint.format !== 'trunkline' && `${nameOf(endpoint.format)} · `}
        {endpoint.events.join(', ')}
        {endpoint.headers.length > 0 && ` · ${endpoint.headers.map((header) => header.key).join(', ')}`} · {time(endpoint.createdAt)}
      </p>
      <EndpointTrouble endpoint={endpoint} />
      {test.data && <Answer attempt={test.data} />}
      <div className="row">
        <Button tone="main" busy={test.isPending} onClick={() => test.mutate(undefined)}>
          {t('webhooks.test')}
        </Button>
        <Button onClick={() => setOpen('change')}>{t('webhooks.change')}</Button>
        <Button busy={enable.isPending} onClick={() => enable.mutate(undefined)}>
          {t(endpoint.enabled ? 'webhooks.disable' : 'webhooks.enable')}
        </Button>
        <Button onClick={() => setOpen('rotate')}>{t('webhooks.rotate')}</Button>
        <Button tone="bad" icon="trash" label={t('hooks.remove', { url: endpoint.webhook })} onClick={() => setOpen('delete')} />
      </div>
      {open === 'change' && <Change endpoint={endpoint} close={() => setOpen(null)} done={refresh} />}
      {open === 'delete' && <Confirm title={t('hooks.remove', { url: endpoint.webhook })} text={t('webhooks.removeText')} action={t('webhooks.remove')} busy={remove.isPending} run={() => remove.mutate(undefined)} close={() => setOpen(null)} />}
      {open === 'rotate' && !rotate.data && <Confirm title={t('webhooks.rotate')} text={t('webhooks.rotateText')} action={t('webhooks.rotate')} busy={rotate.isPending} run={() => rotate.mutate(undefined)} close={() => setOpen(null)} />}
      {open === 'rotate' && rotate.data?.secret && (
        <Dialog
          title={t('webhooks.rotate')}
          close={() => {
            rotate.reset()
            setOpen(null)
          }}
        >
          <div className="stack">
            <p>{t('webhooks.secretText')}</p>
            <Code>{rotate.data.secret}</Code>
          </div>
        </Dialog>
      )}
    </article>
  )
}

/** Change sets events and headers. Values of headers are not shown again, so headers are replaced as a whole. */
function Change({ endpoint, close, done }: { endpoint: Endpoint; close: () => void; done: () => unknown }) {
  const [events, setEvents] = useState<string[]>(endpoint.events)
  const [extracted, setExtracted] = useState(endpoint.include.includes('extracted'))
  const [format, setFormat] = useState<Format>(endpoint.format)
  const [headers, setHeaders] = useState<Header[] | null>(null)
  const act = useAct(
    () => got(api.PATCH('/references/hookconf/{endpointId}', { ...path(endpoint), body: { events, include: extracted ? ['extracted'] : [], format, ...(headers ? { headers } : {}) } })),
    {
      said: t('saved'),
      then: async () => {
        await done()
        close()
      },
    },
  )
  return (
    <Dialog title={t('webhooks.change')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        {act.problem && <Notice tone="bad">{act.problem.errors[0]?.message ?? act.problem.message}</Notice>}
        <Events value={events} change={setEvents} extracted={extracted} changeExtracted={setExtracted} />
        <FormatChoice value={format} change={setFormat} wrong={act.wrong('format')} />
        {headers ? (
          <Headers value={headers} change={setHeaders} wrong={act.wrong} />
        ) : (
          <div>
            <Button onClick={() => setHeaders(endpoint.headers.map((header) => ({ key: header.key, value: '' })))}>{t('webhooks.replaceHeaders')}</Button>
          </div>
        )}
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('save')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
