import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Check } from '../../ui/field'
import { type Reference, useReferences } from '../../ui/reference-choice'
import { Badge, Curl, Failed, Loading } from '../../ui/parts'
import type { Opened } from './engine'
import { engines } from './engine'
import { openedKey } from './use-draft'

const listenersKey = (reference: number) => ['triggers', reference]

/** BotReference says whether a bot answers on its reference, and who else does. */
export function BotReference({ opened }: { opened: Opened }) {
  const reference = useReferences().data?.items.find((one) => one.id === opened.reference)
  const set = useAct((active: boolean) => got(api.PATCH('/bot/{botId}', { params: { path: { botId: opened.id } }, body: { active } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: openedKey(engines.bot, opened.id) })
      await client.invalidateQueries({ queryKey: listenersKey(opened.reference ?? 0) })
    },
  })
  return (
    <div className="stack">
      <Check label={t('edit.active', { reference: reference?.name ?? '' })} hint={t(opened.version > 0 ? 'edit.activeHint' : 'edit.activeFirst')} checked={set.isPending ? set.variables : opened.active} onChange={(event) => set.mutate(event.target.checked)} />
      {reference && <Listeners reference={reference} self={opened.id} />}
    </div>
  )
}

/** FlowReferences says on which references a flow listens, and who else does. */
export function FlowReferences({ opened }: { opened: Opened }) {
  const path = { params: { path: { flowId: opened.id } } }
  const key = ['bindings', opened.id]
  const references = useReferences()
  const bound = useQuery({ queryKey: key, queryFn: () => got(api.GET('/aiflow/flow/{flowId}/bind', path)) })
  const act = useAct((body: { reference: number; enabled: boolean; priority?: number }) => got(api.PUT('/aiflow/flow/{flowId}/bind', { ...path, body })), {
    then: async (next, { reference }) => {
      client.setQueryData(key, next)
      await client.invalidateQueries({ queryKey: listenersKey(reference) })
    },
  })
  if (references.isPending || bound.isPending) return <Loading />
  if (bound.error && !bound.data) return <Failed error={bound.error} again={() => void bound.refetch()} />
  const of = (reference: number) => bound.data.items.find((one) => one.reference === reference)
  // What was chosen is shown at once; a refusal takes it back.
  const listens = (reference: number) => (act.isPending && act.variables.reference === reference ? act.variables.enabled : (of(reference)?.enabled ?? false))
  return (
    <div className="stack">
      {opened.version === 0 && <p className="mute">{t('edit.activeFirst')}</p>}
      <fieldset className="plain stack">
        <legend>{t('flows.listens')}</legend>
        {references.data?.items.map((reference) => (
          <div key={reference.id} className="stack tight">
            <Check label={reference.name} checked={listens(reference.id)} onChange={(event) => act.mutate({ reference: reference.id, enabled: event.target.checked })} />
            {of(reference.id)?.enabled && <Listeners reference={reference} self={opened.id} />}
          </div>
        ))}
        {references.data?.items.length === 0 && <p className="mute">{t('home.noReferences')}</p>}
      </fieldset>
      {act.error && <p className="wrong small">{act.error.message}</p>}
      <Curl method="PUT" path={`/aiflow/flow/${opened.id}/bind`} body={{ reference: references.data?.items[0]?.id ?? 1, enabled: true }} />
    </div>
  )
}

/** Listeners are who answers on a reference, in the order in which they are asked. */
function Listeners({ reference, self }: { reference: Reference; self: string }) {
  const list = useQuery({ queryKey: listenersKey(reference.id), queryFn: () => got(api.GET('/reference/{id}/triggers', { params: { path: { id: reference.id } } })), staleTime: 0 })
  if (!list.data || list.data.items.length === 0) return null
  return (
    <section className="listeners stack tight" aria-label={t('edit.whoAnswers', { reference: reference.name })}>
      <p className="small mute">{t('edit.whoAnswers', { reference: reference.name })}</p>
      <ol className="stack tight">
        {list.data.items.map((one) => (
          <li key={`${one.engine} ${one.id}`} className="row spread">
            <span className="clip" dir="auto">
              {one.id === self ? <strong>{one.name}</strong> : one.name}
            </span>
            <span className="row">
              <span className="small mute">{one.triggers.join(', ')}</span>
              {!one.enabled && <Badge>{t('edit.off')}</Badge>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
