import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client'
import { number, t, time } from '../../text'
import { Badge, type Tone } from '../../ui/parts'

type Detail = Schemas['RunDetail'] & Schemas['RunView']
type Step = Schemas['StepView']
type Entry = Schemas['AgentEntry']

/** Steps is what a run did; steps within loops and functions stand further in. */
export function Steps({ run, approve }: { run: Detail; approve: ReactNode }) {
  const entries = new Map<string, Entry[]>()
  for (const entry of run.agent ?? []) entries.set(entry.node, [...(entries.get(entry.node) ?? []), entry])
  return (
    <ol className="steps-tree">
      {run.steps.map((step, at) => (
        <li key={step.seq} style={{ marginInlineStart: `${Math.min(step.path.length, 8) * 20}px` }}>
          <StepRow step={step} waits={run.endedAt === null && at === run.steps.length - 1} />
          {step.type === 'agent' && <Turns entries={entries.get(step.node) ?? []} />}
        </li>
      ))}
      {approve}
    </ol>
  )
}

/** StepRow is one step. Without an output it waits, or it was the last of its graph. */
function StepRow({ step, waits }: { step: Step; waits: boolean }) {
  return (
    <details>
      <summary className="row" data-row>
        <span className="mono mute">{step.seq}</span>
        <strong>{step.node}</strong>
        <span className="mute">{step.type}</span>
        {step.path.length > 0 && <span className="small mute">{step.path.join(' › ')}</span>}
        {step.output && <Badge tone={step.error ? 'bad' : 'ok'}>{step.output}</Badge>}
        {!step.output && !step.error && (waits ? <Badge tone="warn">{t('run.waiting')}</Badge> : step.type === 'end' && <Badge tone="ok">{t('run.done')}</Badge>)}
        {step.error && <Badge tone="bad">{step.error.code}</Badge>}
        {step.retry !== null && <Badge tone="warn">{t('run.retried', { n: step.retry })}</Badge>}
        <span className="small mute">{step.durationMs >= 10_000 ? `${number(step.durationMs / 1000, { maximumFractionDigits: 0 })} s` : `${number(step.durationMs)} ms`}</span>
      </summary>
      <div className="stack step-body">
        {step.error && <p>{step.error.message}</p>}
        {step.warning && <p>{step.warning}</p>}
        <Part name={t('run.in')} value={step.in} />
        <Part name={t('run.out')} value={step.out} />
        <p className="small mute">{time(step.at, 'long')}</p>
      </div>
    </details>
  )
}

function Part({ name, value }: { name: string; value: unknown }) {
  if (value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)) return null
  return (
    <div>
      <h3 className="small">{name}</h3>
      <pre className="code" dir="auto" tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </div>
  )
}

const tones: Record<Entry['status'], Tone> = { asked: 'warn', approved: 'ok', denied: 'bad', started: 'brand', done: 'ok', failed: 'bad', unknown: 'warn' }

/** Turns is what an agent did: what the model answered, and which tools it called. */
function Turns({ entries }: { entries: Entry[] }) {
  if (entries.length === 0) return null
  return (
    <ol className="turns">
      {entries.map((entry) => (
        <li key={`${entry.session} ${entry.seq}`}>
          <details>
            <summary className="row">
              <Badge tone={tones[entry.status]}>{t(`entry.${entry.kind}`)}</Badge>
              <span className="grow clip" dir="auto">
                {entry.tool ?? (entry.text || entry.calls.join(', ') || entry.stop)}
              </span>
              {entry.kind === 'turn' && <span className="small mute">{t('run.tokensOnly', { tokens: number(entry.inputTokens + entry.outputTokens) })}</span>}
            </summary>
            <div className="stack step-body">
              {entry.error && <p>{entry.error}</p>}
              {entry.text && (
                <p className="words" dir="auto">
                  {entry.text}
                </p>
              )}
              <Part name={t('run.in')} value={entry.arguments} />
              {entry.result && (
                <pre className="code" dir="auto" tabIndex={0}>
                  {entry.result}
                </pre>
              )}
            </div>
          </details>
        </li>
      ))}
    </ol>
  )
}
