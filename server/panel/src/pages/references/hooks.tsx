import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Input } from '../../ui/field'
import { Headers, type Header } from '../../ui/headers'
import { EndpointBadge } from '../../ui/endpoint-state'
import { Button } from '../../ui/parts'

/** Hooks is the box for a new webhook, with those that there are. */
export function Hooks({ reference }: { reference: number }) {
  const key = ['hooks', reference]
  const list = useQuery({ queryKey: key, queryFn: () => got(api.GET('/references/hookconf', { params: { query: { reference } } })) })
  const [webhook, setWebhook] = useState('')
  const [headers, setHeaders] = useState<Header[]>([])
  const refresh = () => client.invalidateQueries({ queryKey: key })
  const add = useAct((sent: { webhook: string; headers: Header[] }) => got(api.POST('/references/hookconf', { body: { id: String(reference), ...sent } })), {
    said: t('hooks.added'),
    then: async (_, sent) => {
      // What was written meanwhile stays.
      setWebhook((now) => (now === sent.webhook ? '' : now))
      setHeaders((now) => (now === sent.headers ? [] : now))
      await refresh()
    },
  })
  const remove = useAct((endpointId: string) => got(api.DELETE('/references/hookconf/{endpointId}', { params: { path: { endpointId } } })), { then: refresh })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate({ webhook, headers })
  }
  return (
    <section className="card stack" aria-labelledby="hooks">
      <h2 id="hooks">{t('hooks.new')}</h2>
      <form className="stack" onSubmit={submit}>
        <Input label={t('hooks.url')} type="url" placeholder="https://example.com/hook" value={webhook} onChange={(event) => setWebhook(event.target.value)} wrong={add.wrong('webhook')} required />
        <Headers value={headers} change={setHeaders} wrong={add.wrong} />
        <div>
          <Button type="submit" tone="main" busy={add.isPending}>
            {t('hooks.add')}
          </Button>
        </div>
      </form>
      <ul className="stack">
        {list.data?.items.map((one) => (
          <li key={one.endpointId} className="row spread">
            <span className="grow mono">{one.webhook}</span>
            <EndpointBadge endpoint={one} />
            <Button icon="trash" label={t('hooks.remove', { url: one.webhook })} tone="quiet" onClick={() => remove.mutate(one.endpointId)} />
          </li>
        ))}
      </ul>
    </section>
  )
}
