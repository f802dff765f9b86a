import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Check } from '../../ui/field'
import { type Reference, useLines } from '../../ui/line-choice'
import { Badge, Curl, Failed, Loading } from '../../ui/parts'
import type { Opened } from './engine'
import { engines } from './engine'
import { openedKey } from './use-draft'

const listenersKey = (line: number) => ['triggers', line]

/** BotLine says whether a bot answers on its line, and who else does. */
export function BotLine({ opened }: { opened: Opened }) {
  const line = useLines().data?.items.find((one) => one.id === opened.reference)
  const set = useAct((active: boolean) => got(api.PATCH('/bot/{botId}', { params: { path: { botId: opened.id } }, body: { active } })), {
    then: async () => {
      await client.invalidateQueries({ queryKey: openedKey(engines.bot, opened.id) })
      await client.invalidateQueries({ queryKey: listenersKey(opened.reference ?? 0) })
    },
  })
  return (
    <div className="stack">
      <Check label={t('edit.active', { line: line?.name ?? '' })} hint={t(opened.version > 0 ? 'edit.activeHint' : 'edit.activeFirst')} checked={set.isPending ? set.variables : opened.active} onChange={(event) => set.mutate(event.target.checked)} />
      {line && <Listeners line={line} self={opened.id} />}
    </div>
  )
}

/** FlowLines says on which lines a flow listens, and who else does. */
export function FlowLines({ opened }: { opened: Opened }) {
  const path = { params: { path: { flowId: opened.id } } }
  const key = ['bindings', opened.id]
  const lines = useLines()
  const bound = useQuery({ queryKey: key, queryFn: () => got(api.GET('/aiflow/flow/{flowId}/bind', path)) })
  const act = useAct((body: { reference: number; enabled: boolean; priority?: number }) => got(api.PUT('/aiflow/flow/{flowId}/bind', { ...path, body })), {
    then: async (next, { reference }) => {
      client.setQueryData(key, next)
      await client.invalidateQueries({ queryKey: listenersKey(reference) })
    },
  })
  if (lines.isPending || bound.isPending) return <Loading />
  if (bound.error) return <Failed error={bound.error} again={() => void bound.refetch()} />
  const of = (line: number) => bound.data.items.find((one) => one.reference === line)
  // What was chosen is shown at once; a refusal takes it back.
  const listens = (line: number) => (act.isPending && act.variables.reference === line ? act.variables.enabled : (of(line)?.enabled ?? false))
  return (
    <div className="stack">
      {opened.version === 0 && <p className="mute">{t('edit.activeFirst')}</p>}
      <fieldset className="plain stack">
        <legend>{t('flows.listens')}</legend>
        {lines.data?.items.map((line) => (
          <div key={line.id} className="stack tight">
            <Check label={line.name} checked={listens(line.id)} onChange={(event) => act.mutate({ reference: line.id, enabled: event.target.checked })} />
            {of(line.id)?.enabled && <Listeners line={line} self={opened.id} />}
          </div>
        ))}
        {lines.data?.items.length === 0 && <p className="mute">{t('home.noLines')}</p>}
      </fieldset>
      {act.error && <p className="wrong small">{act.error.message}</p>}
      <Curl method="PUT" path={`/aiflow/flow/${opened.id}/bind`} body={{ reference: lines.data?.items[0]?.id ?? 1, enabled: true }} />
    </div>
  )
}

/** Listeners are who answers on a line, in the order in which they are asked. */
function Listeners({ line, self }: { line: Reference; self: string }) {
  const list = useQuery({ queryKey: listenersKey(line.id), queryFn: () => got(api.GET('/reference/{id}/triggers', { params: { path: { id: line.id } } })), staleTime: 0 })
  if (!list.data || list.data.items.length === 0) return null
  return (
    <section className="listeners stack tight" aria-label={t('edit.whoAnswers', { line: line.name })}>
      <p className="small mute">{t('edit.whoAnswers', { line: line.name })}</p>
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
