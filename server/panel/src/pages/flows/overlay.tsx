import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { t, time } from '../../text'
import { Badge, Button, Empty, Failed, Loading, Notice } from '../../ui/parts'
import { type Engine, type RunDetail } from './engine'
import { StatusBadge } from '../runs/status'
import { StepDetail, StepList, Values } from './steps'

/** Overlaid is a run that is shown on the canvas, up to one of its steps. */
export interface Overlaid {
  run: RunDetail | undefined
  error: Error | null
  reload: () => void
  /** The step that is shown; the last one, unless another was chosen. */
  at: number
  choose: (at: number) => void
}

/** useOverlay follows a run: what it does is shown as it happens, and read again when it is opened again. */
export function useOverlay(engine: Engine, id: string): Overlaid {
  const key = ['runs', 'one', id]
  const query = useQuery({ queryKey: key, queryFn: () => engine.run(id), enabled: id !== '', staleTime: 0 })
  const [chosen, setChosen] = useState<number | null>(null)
  useEffect(() => setChosen(null), [id])
  const last = (query.data?.steps.length ?? 0) - 1
  return { run: id ? query.data : undefined, error: query.error, reload: () => void query.refetch(), at: Math.min(chosen ?? last, last), choose: (at) => setChosen(at >= last ? null : at) }
}

/** RunPanel steps through the run that is on the canvas. */
export function RunPanel({ engine, of, close }: { engine: Engine; of: Overlaid; close: () => void }) {
  const { run, at, choose } = of
  if (of.error && !run) return <Failed error={of.error} again={of.reload} />
  if (!run) return <Loading />
  const { steps } = run
  const step = steps[at]
  return (
    <div className="stack">
      <div className="row">
        <StatusBadge run={run} />
        <span className="small mute">{time(run.startedAt, 'long')}</span>
        <span className="small mute">{run.version > 0 ? t('flows.version', { n: run.version }) : t('run.draft')}</span>
      </div>
      {run.error && (
        <Notice tone="bad">
          <strong>{run.error.code}</strong> <span dir="auto">{run.error.message}</span>
        </Notice>
      )}
      <div className="row">
        <Link className="button" href={`/runs/${engine.name}/${run.id}`}>
          {t('edit.runPage')}
        </Link>
        {run.parent && (
          <Link className="button" href={`/runs/${engine.name}/${run.parent}`}>
            {t('run.parent')}
          </Link>
        )}
        <Button onClick={close}>{t('edit.backToDraft')}</Button>
      </div>
      {steps.length > 0 && (
        <div className="scrub">
          <Button tone="quiet" icon="back" label={t('edit.stepBefore')} disabled={at <= 0} onClick={() => choose(at - 1)} />
          <input type="range" className="grow" min={1} max={steps.length} value={at + 1} aria-label={t('edit.scrub')} aria-valuetext={t('edit.stepOf', { n: at + 1, of: steps.length })} onChange={(event) => choose(Number(event.target.value) - 1)} />
          <Button tone="quiet" icon="next" label={t('edit.stepAfter')} disabled={at >= steps.length - 1} onClick={() => choose(at + 1)} />
          <span className="small mute">{t('edit.stepOf', { n: at + 1, of: steps.length })}</span>
        </div>
      )}
      {step && <StepDetail step={step} />}
      <StepList steps={steps} at={at} choose={choose} />
      <Values name={t('try.values')} value={run.variables} />
    </div>
  )
}

/** LatestRuns are the last runs, to be shown on the canvas. */
export function LatestRuns({ engine, id, open }: { engine: Engine; id: string; open: (run: string) => void }) {
  const key = ['runs', 'latest', id]
  const list = useQuery({ queryKey: key, queryFn: () => engine.runs(id), staleTime: 0 })
  if (list.isPending) return <Loading />
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  if (list.data.items.length === 0) return <Empty title={t('runs.none')}>{t('runs.noneText')}</Empty>
  return (
    <div className="stack">
      <ul className="step-list">
        {list.data.items.map((run) => (
          <li key={run.id}>
            <button type="button" className="step-row" data-row onClick={() => open(run.id)}>
              <StatusBadge run={run} />
              <span className="grow clip" dir="auto">
                {run.chatId}
              </span>
              <span className="small mute">{time(run.startedAt)}</span>
            </button>
          </li>
        ))}
      </ul>
      <Link className="button" href={`/runs?${engine.name}=${id}`}>
        {t('edit.allRuns')}
      </Link>
    </div>
  )
}

/** RunSign says over the canvas that it shows a run. */
export function RunSign({ run }: { run: RunDetail }) {
  return (
    <p className="run-sign">
      <Badge tone="brand">{t('edit.showsRun')}</Badge> <span className="small mute">{t(run.function ? 'edit.showsFunction' : run.version > 0 ? 'edit.showsVersion' : 'edit.showsDraft', { n: run.version })}</span>
    </p>
  )
}
