import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Button, Failed, Loading, Notice } from '../../ui/parts'
import { Changes } from './changes'
import { type Difference, difference } from './diff'
import { type Document, type Engine, type FlowProblem, type Opened, versionsOf } from './engine'
import { Problems } from './problems'
import { openedKey } from './use-draft'

const blank: Document = {}

/** changed is what publishing would change. */
async function changed(engine: Engine, opened: Opened): Promise<Difference> {
  if (engine.name === 'flow') return got(api.GET('/aiflow/flow/{flowId}/diff', { params: { path: { flowId: opened.id } } }))
  const live = (await versionsOf(engine, opened.id)).find((one) => one.version === opened.version)
  return difference(live?.document ?? blank, opened.document)
}

/** Publish shows what would change for those who write, and publishes it. opened is what the server has. */
export function Publish({ engine, opened, close, listen }: { engine: Engine; opened: Opened; close: () => void; listen: () => void }) {
  const differs = useQuery({ queryKey: ['diff', engine.name, opened.id, opened.revision, opened.version], queryFn: () => changed(engine, opened) })
  const bound = useQuery({
    queryKey: ['bindings', opened.id],
    queryFn: () => got(api.GET('/aiflow/flow/{flowId}/bind', { params: { path: { flowId: opened.id } } })),
    enabled: engine.name === 'flow' && opened.document.kind === 'flow',
  })
  const deaf = bound.data && !bound.data.items.some((one) => one.enabled)
  const publish = useAct(() => engine.publish(opened.id), {
    said: t('flows.published'),
    quiet: true,
    then: async (next) => {
      client.setQueryData(openedKey(engine, opened.id), next)
      await Promise.all([client.invalidateQueries({ queryKey: ['versions', opened.id] }), client.invalidateQueries({ queryKey: ['home'] })])
      close()
      if (deaf) listen()
    },
  })
  const refused = publish.problem?.errors.map((e): FlowProblem => ({ severity: 'error', code: e.code ?? '', nodeId: e.nodeId ?? '', path: e.location.replace(/^body\.(draft|flow)/, ''), message: e.message, hint: '', at: null }))
  const problems = refused?.length ? refused : opened.problems
  const errors = problems.filter((one) => one.severity === 'error').length
  return (
    <Dialog
      title={t(opened.version > 0 ? 'edit.publishAgain' : 'edit.publishFirst', { name: opened.name })}
      close={close}
      wide
      footer={
        <>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button tone="main" busy={publish.isPending} disabled={errors > 0 && !refused} onClick={() => publish.mutate(undefined)}>
            {t('flows.publish')}
          </Button>
        </>
      }
    >
      <div className="stack">
        {errors > 0 ? <Notice tone="bad">{t('edit.blocked', { n: errors })}</Notice> : <p>{t('edit.publishText')}</p>}
        {publish.error && !refused?.length && <Notice tone="bad">{publish.error.message}</Notice>}
        {problems.length > 0 && <Problems problems={problems} />}
        {deaf && errors === 0 && <Notice tone="warn">{t('edit.deaf')}</Notice>}
        <h3>{t(opened.version > 0 ? 'edit.changes' : 'edit.contains', { n: opened.version })}</h3>
        {differs.isPending && <Loading />}
        {differs.error && <Failed error={differs.error} again={() => void differs.refetch()} />}
        {differs.data && (
          <div className="changes-box" tabIndex={0} role="region" aria-label={t('edit.changes', { n: opened.version })}>
            <Changes of={differs.data} names={opened.document} />
          </div>
        )}
        {opened.document.kind === 'function' && <UsedBy flow={opened.id} />}
      </div>
    </Dialog>
  )
}

/** UsedBy says which flows a function concerns. */
export function UsedBy({ flow }: { flow: string }) {
  const uses = useQuery({ queryKey: ['usedby', flow], queryFn: () => got(api.GET('/aiflow/flow/{flowId}/usedby', { params: { path: { flowId: flow }, query: { limit: 200 } } })), staleTime: 0 })
  return (
    <section className="stack tight" aria-labelledby="used-by">
      <h3 id="used-by">{t('edit.usedBy')}</h3>
      {uses.data?.items.length === 0 && <p className="mute">{t('edit.usedByNone')}</p>}
      <ul>
        {uses.data?.items.map((use) => (
          <li key={use.flowId} dir="auto">
            {use.name} <span className="mute">{[use.published !== null && t('edit.usesVersion', { n: use.published }), use.draft && t('edit.usesDraft')].filter(Boolean).join(', ')}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
