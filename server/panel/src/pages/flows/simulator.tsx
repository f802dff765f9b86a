import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react'
import { Problem } from '../../api/client'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input, TextArea } from '../../ui/field'
import { Badge, Button, Notice } from '../../ui/parts'
import { read } from './draft'
import type { Document, Engine } from './engine'
import { asked, duration, type Happening, stepsOf, testOf, type Turn } from './play'
import { StepDetail, StepList, Values } from './steps'

/** Played is a conversation with the draft that nobody has. */
export interface Played {
  turns: Turn[]
  /** The world of the conversation, as a test has it, and as it is typed. */
  given: string
  setGiven: (text: string) => void
  happen: (next: Happening | null) => void
  /** back takes the last turn back: the server keeps nothing, so that a state may go on in two ways. */
  back: () => void
  restart: () => void
  /** again plays the same once more, on the draft as it is now. */
  again: () => void
  busy: boolean
  error: Error | null
}

const worldOf = (given: string) => (given.trim() ? read(given) : null)

/** usePlayed plays with the draft; ready has the server know all edits first. */
export function usePlayed(engine: Engine, id: string, ready: () => Promise<boolean>): Played {
  const [turns, setTurns] = useState<Turn[]>([])
  const [given, setGiven] = useState('')
  const act = useAct(
    async ({ before, happenings }: { before: Turn[]; happenings: (Happening | null)[] }) => {
      if (!(await ready())) throw new Error(t('try.unsaved'))
      const world = worldOf(given)
      if (given.trim() && !world) throw new Error(t('run.noJSON'))
      const all = [...before]
      for (const happening of happenings) all.push({ happening, result: await engine.simulate(id, asked(happening, all.at(-1), world)) })
      return all
    },
    { quiet: true, then: setTurns },
  )
  const { mutate } = act
  const happen = useCallback((next: Happening | null) => mutate({ before: turns, happenings: [next] }), [mutate, turns])
  const again = useCallback(() => mutate({ before: [], happenings: turns.map((turn) => turn.happening) }), [mutate, turns])
  const set = (next: Turn[]) => {
    act.reset()
    setTurns(next)
  }
  return { turns, given, setGiven, happen, again, back: () => set(turns.slice(0, -1)), restart: () => set([]), busy: act.isPending, error: act.error }
}

/** Simulator is the conversation beside the canvas. at is the step that is shown there. */
export function Simulator({ played, kind, at, choose, keep }: { played: Played; kind: unknown; at: number; choose: (at: number) => void; keep: (test: Document) => Promise<unknown> }) {
  const { turns, busy, error } = played
  const [keeping, setKeeping] = useState(false)
  const last = turns.at(-1)?.result
  const steps = stepsOf(turns)
  const screen = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = screen.current
    if (box) box.scrollTop = box.scrollHeight
  }, [turns])
  const changed = error instanceof Problem && error.status === 409 && turns.length > 0
  const step = steps[at]
  return (
    <div className="simulator stack">
      <div className="sim-screen" ref={screen} tabIndex={0} role="log" aria-label={t('try.screen')}>
        {turns.length === 0 && <p className="mute">{t(kind === 'function' ? 'try.beginFunction' : 'try.begin')}</p>}
        {turns.map((turn, i) => (
          <TurnView key={i} turn={turn} open={i === turns.length - 1 && !busy} happen={played.happen} />
        ))}
      </div>
      {error && !changed && <Notice tone="bad">{error.message}</Notice>}
      {changed && <Notice tone="warn">{t('try.changed')}</Notice>}
      {!last?.ended && <Composer played={played} begun={Boolean(last)} kind={kind} />}
      {last && !last.ended && <Acts played={played} />}
      <div className="row">
        {turns.length > 0 && (
          <>
            <Button icon="back" onClick={played.restart}>
              {t('try.restart')}
            </Button>
            <Button busy={busy} onClick={played.again}>
              {t('try.again')}
            </Button>
            <Button icon="undo" label={t('try.back')} onClick={played.back} />
            <Button onClick={() => setKeeping(true)}>{t('try.keep')}</Button>
          </>
        )}
      </div>
      {steps.length > 0 && (
        <details open>
          <summary>{t('try.steps', { n: steps.length })}</summary>
          <StepList steps={steps} at={at} choose={choose} />
          {step && <StepDetail step={step} />}
          {step?.error?.code === 'simulate.no_mock' && <Mock node={step.node} type={step.type} played={played} />}
        </details>
      )}
      {last && <Values name={t('try.values')} value={last.variables} />}
      <details>
        <summary>{t('try.given')}</summary>
        <TextArea label={t('try.given')} hint={t('try.givenHint')} className="input mono" spellCheck={false} value={played.given} onChange={(event) => played.setGiven(event.target.value)} />
      </details>
      {keeping && <Keep close={() => setKeeping(false)} keep={(name) => keep(testOf(name, turns, worldOf(played.given)))} />}
    </div>
  )
}

/** Mock offers an answer in place of the network's. */
function Mock({ node, type, played }: { node: string; type: string; played: Played }) {
  const add = () => {
    const world = worldOf(played.given) ?? {}
    const mocks = Array.isArray(world.mocks) ? world.mocks : []
    const result = type.startsWith('x.') ? { output: '', value: null } : { status: 200, headers: {}, body: {} }
    played.setGiven(JSON.stringify({ ...world, mocks: [...mocks, { node, result }] }, null, 2))
  }
  return (
    <div className="row">
      <Button onClick={add}>{t('try.mock', { node })}</Button>
    </div>
  )
}

function TurnView({ turn, open, happen }: { turn: Turn; open: boolean; happen: (next: Happening) => void }) {
  const { happening, result } = turn
  return (
    <div className="stack tight">
      {happening && <p className={'send' in happening ? 'sim-bubble mine' : 'sim-event'}>{wordsOf(happening)}</p>}
      {result.messages.map((one, i) => (
        <MessageView key={i} message={one.message} choose={open ? (reply) => happen({ send: { type: 'text', text: reply.title, reply } }) : undefined} />
      ))}
      {result.effects.map((one, i) => (
        <p key={i} className="sim-event">
          <Badge>{t(`try.did.${one.kind}`)}</Badge> <span dir="auto">{one.node}</span>
        </p>
      ))}
      {result.ended && (
        <p className="sim-event">
          <Badge tone={result.ended.status === 'completed' ? 'ok' : result.ended.status === 'failed' ? 'bad' : 'none'}>{t(`run.${result.ended.status}`)}</Badge> {result.ended.error && <span dir="auto">{result.ended.error.message}</span>}
        </p>
      )}
      {!result.ended && result.waitingFor && result.waitingFor !== 'reply' && (
        <p className="sim-event">
          {t('run.waiting')}: {t(`wait.${result.waitingFor}`)} {result.until !== null && time(result.until, 'long')}
        </p>
      )}
    </div>
  )
}

function wordsOf(happening: Happening): string {
  if ('send' in happening) return typeof happening.send === 'string' ? happening.send : String(happening.send.text ?? JSON.stringify(happening.send))
  if ('advance' in happening) return t('try.advanced', { time: happening.advance })
  if ('event' in happening) return t('try.happened', { name: happening.event.name })
  if ('handoff' in happening) return t(happening.handoff === 'assigned' ? 'try.take' : 'try.close')
  if ('approve' in happening) return t(happening.approve ? 'try.approved' : 'try.denied')
  return t('run.cancelled')
}

interface Choice {
  id: string
  title: string
}

function MessageView({ message, choose }: { message: Document; choose: ((reply: Choice) => void) | undefined }) {
  const media = message.media as { url?: string; caption?: string } | undefined
  const text = [message.text, media?.caption].filter((one) => typeof one === 'string').join('\n')
  const sections = (message.sections ?? []) as { rows?: Choice[] }[]
  const choices = [...((message.buttons ?? []) as Choice[]), ...sections.flatMap((section) => section.rows ?? [])]
  return (
    <div className="sim-bubble" dir="auto">
      {message.type !== 'text' && message.type !== undefined && <span className="small mute">{String(message.type)} </span>}
      {text || (media?.url ?? (message.type === 'text' ? '' : JSON.stringify(message)))}
      {choices.length > 0 && (
        <span className="row">
          {choices.map((one) => (
            <Button key={one.id} disabled={!choose} onClick={() => choose?.({ id: one.id, title: one.title })}>
              {one.title}
            </Button>
          ))}
        </span>
      )}
    </div>
  )
}

function Composer({ played, begun, kind }: { played: Played; begun: boolean; kind: unknown }) {
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!text.trim()) return
    played.happen({ send: text })
    setText('')
  }
  return (
    <form className="sim-composer" onSubmit={submit}>
      {kind !== 'function' && (
        <>
          <input className="input grow" dir="auto" aria-label={t('try.write')} placeholder={t('try.write')} value={text} onChange={(event) => setText(event.target.value)} />
          <Button type="submit" icon="send" label={t('try.send')} busy={played.busy} />
        </>
      )}
      {!begun && (
        <Button busy={played.busy} onClick={() => played.happen(null)}>
          {t('try.bare')}
        </Button>
      )}
    </form>
  )
}

/** Acts are what else can happen now. */
function Acts({ played }: { played: Played }) {
  const [asking, setAsking] = useState(false)
  const last = played.turns.at(-1)?.result
  if (!last) return null
  const { until, waitingFor } = last
  return (
    <div className="row">
      {until !== null && (
        <Button busy={played.busy} onClick={() => played.happen({ advance: duration(until - last.now) })}>
          {t('try.advance')}
        </Button>
      )}
      {waitingFor === 'event' && <Button onClick={() => setAsking(true)}>{t('run.event')}</Button>}
      {waitingFor === 'handoff' && (
        <>
          <Button onClick={() => played.happen({ handoff: 'assigned' })}>{t('try.take')}</Button>
          <Button onClick={() => played.happen({ handoff: 'closed' })}>{t('try.close')}</Button>
        </>
      )}
      {waitingFor === 'approval' && (
        <>
          <Button onClick={() => played.happen({ approve: true })}>{t('run.approve')}</Button>
          <Button onClick={() => played.happen({ approve: false })}>{t('run.deny')}</Button>
        </>
      )}
      {asking && <Event close={() => setAsking(false)} happen={played.happen} />}
    </div>
  )
}

function Event({ close, happen }: { close: () => void; happen: (next: Happening) => void }) {
  const [name, setName] = useState('')
  const [data, setData] = useState('{}')
  const value = read(data)
  return (
    <Dialog title={t('run.event')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!value) return
          happen({ event: { name, data: value } })
          close()
        }}
      >
        <Input label={t('run.eventName')} value={name} onChange={(event) => setName(event.target.value)} required autoFocus />
        <TextArea label={t('try.data')} className="input mono" value={data} onChange={(event) => setData(event.target.value)} wrong={value ? undefined : t('run.noJSON')} />
        <Button type="submit" tone="main">
          {t('run.event')}
        </Button>
      </form>
    </Dialog>
  )
}

function Keep({ close, keep }: { close: () => void; keep: (name: string) => Promise<unknown> }) {
  const [name, setName] = useState('')
  const act = useAct(() => keep(name), { then: close, said: t('try.kept') })
  return (
    <Dialog title={t('try.keep')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <p>{t('try.keepText')}</p>
        <Input label={t('try.name')} value={name} onChange={(event) => setName(event.target.value)} wrong={act.problem?.errors[0]?.message} maxLength={200} required autoFocus />
        <Button type="submit" tone="main" busy={act.isPending}>
          {t('try.keep')}
        </Button>
      </form>
    </Dialog>
  )
}
