import type { ReactNode } from 'react'
import { number, t } from '../../text'
import { Badge } from '../../ui/parts'
import { Tree } from '../../ui/tree'
import type { Step } from './engine'

/** StepList is what a run did, to be stepped through; at is the place of the step that is shown, -1: none. */
export function StepList({ steps, at, choose }: { steps: readonly Step[]; at: number; choose: (at: number) => void }) {
  return (
    <ol className="step-list">
      {steps.map((step, i) => (
        <li key={i}>
          <button type="button" className="step-row" aria-current={i === at ? 'step' : undefined} onClick={() => choose(i)}>
            <span className="mono mute">{step.seq}</span>
            <span className="grow clip" dir="auto">
              {step.path.length > 0 && <span className="mute">{step.path.join(' › ')} › </span>}
              {step.node}
            </span>
            <Outcome step={step} />
          </button>
        </li>
      ))}
    </ol>
  )
}

function Outcome({ step }: { step: Step }): ReactNode {
  if (step.error) return <Badge tone="bad">{step.error.code}</Badge>
  if (step.output !== null) return <Badge tone="ok">{step.output}</Badge>
  return <Badge>·</Badge>
}

/** StepDetail is what a step was given and what it made. */
export function StepDetail({ step }: { step: Step }) {
  return (
    <section className="stack tight" aria-label={t('edit.step', { node: step.node })}>
      <div className="row">
        <strong dir="auto">{step.node}</strong>
        <span className="mute">{step.type}</span>
        <span className="small mute">{number(step.durationMs)} ms</span>
      </div>
      {step.error && (
        <p className="wrong" dir="auto">
          {step.error.code}: {step.error.message}
        </p>
      )}
      {step.warning && <p dir="auto">{step.warning}</p>}
      <Values name={t('run.in')} value={step.in} />
      <Values name={t('run.out')} value={step.out} />
    </section>
  )
}

/** Values shows an object unless it is empty. */
export function Values({ name, value }: { name: string; value: Record<string, unknown> }) {
  if (Object.keys(value).length === 0) return null
  return (
    <div>
      <p className="small mute">{name}</p>
      <Tree value={value} />
    </div>
  )
}
