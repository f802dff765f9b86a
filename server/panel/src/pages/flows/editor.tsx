import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t } from '../../text'
import { Icon, type IconName } from '../../ui/icon'
import { Badge, Button, Failed, Loading } from '../../ui/parts'
import { History } from './canvas/history'
import { marksOf } from './canvas/marks'
import { Conflict } from './conflict'
import { Describe } from './describe'
import type { Draft, Shown } from './draft'
import { type Engine, type EngineName, engines, type Opened, type RunDetail, type Step } from './engine'
import { BotReference, FlowReferences } from './listeners'
import { LatestRuns, RunPanel, RunSign, useOverlay } from './overlay'
import { stepsOf } from './play'
import { Publish } from './publish'
import { SaveState } from './save-state'
import { Simulator, usePlayed } from './simulator'
import { keepTest, Tests } from './tests'
import { TextView } from './text'
import { openedKey, useDraft } from './use-draft'
import { useVersions, Versions } from './versions'
import './editor.css'

const Canvas = lazy(() => import('./canvas'))

/** Editor edits a bot or a flow: on the canvas or as text, with a conversation to try it beside. */
export default function Editor({ engine: name, id }: { engine: EngineName; id: string }) {
  const engine = engines[name]
  const { opened, draft, shown } = useDraft(engine, id)
  if (opened.error && !opened.data) return <Failed error={opened.error} again={() => void opened.refetch()} />
  if (!opened.data || !draft || !shown) return <Loading />
  return <Opened engine={engine} opened={opened.data} draft={draft} shown={shown} />
}

const sides = { try: 'send', tests: 'check', runs: 'run', versions: 'undo', references: 'reference', describe: 'agent' } satisfies Record<string, IconName>
type Side = keyof typeof sides

interface Props {
  engine: Engine
  opened: Opened
  draft: Draft
  shown: Shown
}

function Opened({ engine, opened, draft, shown }: Props) {
  const [params, setParams] = useSearchParams()
  const put = (next: Record<string, string>) =>
    setParams((before) => {
      const all = new URLSearchParams(before)
      for (const [key, value] of Object.entries(next)) value ? all.set(key, value) : all.delete(key)
      return all
    }, { replace: true })
  const runId = params.get('run') ?? ''
  const asked = params.get('side') ?? ''
  const side = Object.hasOwn(sides, asked) ? (asked as Side) : null
  const [deciding, setDeciding] = useState(true)
  const [publishing, setPublishing] = useState(false)
  const ready = async () => draft.clean() || (await draft.flush())
  const played = usePlayed(engine, opened.id, ready)
  const [tested, setTested] = useState<Step[] | null>(null)
  const [stepAt, setStepAt] = useState(-1)
  const overlay = useOverlay(engine, runId)
  const history = useRef(new History()).current
  const marks = useMemo(() => {
    if (overlay.run) return marksOf(overlay.run.steps.slice(0, overlay.at + 1), overlay.at === overlay.run.steps.length - 1 ? overlay.run.status : 'running')
    if (side === 'tests' && tested) return marksOf(tested)
    const last = played.turns.at(-1)?.result
    if (side !== 'try' || !last) return undefined
    const steps = stepsOf(played.turns)
    const whole = stepAt < 0 || stepAt >= steps.length - 1
    return marksOf(whole ? steps : steps.slice(0, stepAt + 1), whole ? (last.ended?.status ?? 'waiting') : 'running')
  }, [overlay.run, overlay.at, played.turns, tested, side, stepAt])
  useEffect(() => setStepAt(-1), [played.turns])
  const text = params.get('view') === 'text'
  const waiting = shown.saving !== 'saved'
  return (
    <div className={`flow-page ${side || runId ? 'aside' : ''}`}>
      <header className="flow-head">
        <Link className="button quiet square" href="/flows" aria-label={t('flows.title')} title={t('flows.title')}>
          <Icon name="back" />
        </Link>
        <h1 className="clip" dir="auto">
          {opened.name}
        </h1>
        <Badge tone={opened.version > 0 ? 'ok' : 'none'}>{opened.version > 0 ? t('flows.version', { n: opened.version }) : t('flows.draft')}</Badge>
        <SaveState shown={shown} ask={() => setDeciding(true)} />
        <span className="grow" />
        <div className="row flow-views" role="group" aria-label={t('edit.view')}>
          {(['canvas', 'text'] as const).map((one) => (
            <Button key={one} tone="quiet" aria-pressed={(one === 'text') === text} onClick={() => put({ view: one === 'text' ? 'text' : '' })}>
              {t(`edit.${one}`)}
            </Button>
          ))}
        </div>
        <div className="row flow-sides" role="group" aria-label={t('edit.sides')}>
          {(Object.keys(sides) as Side[])
            .filter((one) => one !== 'describe' || engine.name === 'flow')
            .map((one) => (
              <Button key={one} tone="quiet" icon={sides[one]} aria-pressed={side === one && !runId} onClick={() => put({ side: side === one && !runId ? '' : one, run: '', node: '' })}>
                {t(`edit.side.${one}`)}
              </Button>
            ))}
        </div>
        <Button tone="main" onClick={() => void ready().then((is) => is && setPublishing(true))} disabled={waiting && shown.saving !== 'edited'}>
          {t('flows.publish')}
        </Button>
      </header>
      <div className="flow-body">
        <div className="flow-view">
          {overlay.run && <RunSign run={overlay.run} />}
          {text ? <TextView draft={draft} shown={shown} readOnly={runId !== ''} /> : <Drawn engine={engine} opened={opened} draft={draft} shown={shown} run={overlay.run} marks={marks} history={history} node={params.get('node') ?? ''} select={(node) => put({ node })} />}
        </div>
        {(side || runId) && (
          <aside className="flow-side" aria-labelledby="side">
            <div className="row spread">
              <h2 id="side">{t(runId ? 'run.title' : `edit.side.${side ?? 'try'}`)}</h2>
              <Button tone="quiet" icon="close" label={t('close')} onClick={() => put({ side: '', run: '' })} />
            </div>
            {runId ? (
              <RunPanel engine={engine} of={overlay} close={() => put({ run: '' })} />
            ) : (
              <>
                {side === 'try' && <Simulator played={played} kind={shown.document.kind} at={stepAt} choose={setStepAt} keep={(test) => keepTest(engine, opened.id, test)} />}
                {side === 'tests' && <Tests engine={engine} id={opened.id} ready={ready} show={setTested} />}
                {side === 'runs' && <LatestRuns engine={engine} id={opened.id} open={(run) => put({ run, node: '' })} />}
                {side === 'versions' && <Versions engine={engine} opened={opened} document={shown.document} restore={draft.change} />}
                {side === 'references' && (engine.name === 'bot' ? <BotReference opened={opened} /> : <FlowReferences opened={opened} />)}
                {side === 'describe' && <Describe id={opened.id} document={shown.document} take={draft.change} />}
              </>
            )}
          </aside>
        )}
      </div>
      {shown.theirs && deciding && <Conflict engine={engine} draft={draft} mine={shown.document} theirs={shown.theirs} close={() => setDeciding(false)} />}
      {publishing && (
        <Publish
          engine={engine}
          opened={client.getQueryData<Opened>(openedKey(engine, opened.id)) ?? opened}
          close={() => setPublishing(false)}
          listen={() => put({ side: 'references', run: '' })}
        />
      )}
    </div>
  )
}

/** Drawn is the canvas: of the draft, or of the version that a run went through. */
function Drawn({ engine, opened, draft, shown, run, marks, history, node, select }: Props & { node: string; select: (id: string) => void; run: RunDetail | undefined; marks: ReturnType<typeof marksOf> | undefined; history: History }) {
  const palette = useQuery({ queryKey: ['palette'], queryFn: () => got(api.GET('/aiflow/palette')), staleTime: Infinity })
  const old = run !== undefined && run.version > 0 && !run.function // the version is that of the flow that called the function
  const versions = useVersions(engine, opened.id, old)
  const ran = old ? versions.data?.find((one) => one.version === run.version)?.document : undefined
  if (palette.isPending || (old && versions.isPending)) return <Loading />
  if (palette.error && !palette.data) return <Failed error={palette.error} again={() => void palette.refetch()} />
  return (
    <Suspense fallback={<Loading />}>
      <Canvas
        key={run ? `run ${run.version}` : 'draft'}
        document={ran ?? shown.document}
        change={draft.change}
        problems={run ? [] : shown.problems}
        marks={marks}
        node={node || null}
        select={(id) => select(id ?? '')}
        palette={palette.data}
        engine={engine.name === 'bot' ? 'botengine' : 'aiflow'}
        project={opened.project}
        owner={engine.name === 'bot' ? { bot: opened.id } : { flow: opened.id }}
        readOnly={Boolean(run)}
        history={history}
      />
    </Suspense>
  )
}
