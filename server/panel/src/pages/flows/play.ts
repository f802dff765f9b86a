import type { Document, Simulation, SimulationInput, Step } from './engine'

/** Happening is what happens in a test: something that is said, or done. */
export type Happening =
  | { send: string | Document }
  | { advance: string }
  | { event: { name: string; data?: Document } }
  | { handoff: 'assigned' | 'closed' }
  | { approve: boolean }
  | { cancel: true }

/** Turn is what happened, and what the flow did then; nothing happened: it began by itself. */
export interface Turn {
  happening: Happening | null
  result: Simulation
}

/** asked is the request that has something happen after the turns so far. */
export function asked(happening: Happening | null, last: Turn | undefined, given: Document | null): SimulationInput {
  const begin = last ? { state: last.result.state } : given ? { given } : {}
  if (!happening) return begin
  if ('send' in happening) return { ...begin, ...(typeof happening.send === 'string' ? { input: happening.send } : { message: happening.send }) }
  if ('handoff' in happening) return { ...begin, ...(happening.handoff === 'assigned' ? { take: true } : { close: true }) }
  return { ...begin, ...happening }
}

/** stepsOf are the steps of all turns: one that waited and went on is one. */
export function stepsOf(turns: readonly Turn[]): Step[] {
  const all = new Map<number, Step>()
  for (const turn of turns) for (const step of turn.result.steps) all.set(step.seq, step)
  return [...all.values()].sort((a, b) => a.seq - b.seq)
}

/** testOf is a conversation as a test that expects what the flow did. */
export function testOf(name: string, turns: readonly Turn[], given: Document | null): Document {
  const steps: unknown[] = []
  let begun: unknown
  turns.forEach(({ happening, result }, at) => {
    if (happening && at === 0 && 'send' in happening) begun = typeof happening.send === 'string' ? { type: 'text', text: happening.send } : happening.send
    else if (happening) steps.push(happening)
    const did = [
      ...result.messages.map((one) => ({ node: one.node, at: one.at, expect: said(one.node, one.message) })),
      ...result.effects.filter((one) => one.kind !== 'call').map((one) => ({ node: one.node, at: one.at, expect: { did: one.kind, node: one.node } as unknown })),
    ]
    for (const one of inOrder(did, result.steps)) steps.push({ expect: one.expect })
    if (result.ended) steps.push({ expect: { ended: result.ended.status, ...(result.ended.error ? { error: result.ended.error.code } : {}) } })
    else if (result.waitingFor) steps.push({ expect: { waits: result.waitingFor } })
  })
  const world = { ...given, ...(begun ? { input: begun } : {}) }
  return { name, ...(Object.keys(world).length > 0 ? { given: world } : {}), steps }
}

const said = (node: string, message: Document): unknown => (typeof message.text === 'string' && message.text !== '' ? message.text : { did: 'send', node })

/** inOrder puts what was done in the order of the steps that did it. */
function inOrder<T extends { node: string }>(did: T[], steps: readonly Step[]): T[] {
  const left = [...did]
  const out: T[] = []
  for (const step of steps) {
    const at = left.findIndex((one) => one.node === step.node)
    if (at >= 0) out.push(...left.splice(at, 1))
  }
  return [...out, ...left]
}

/** duration is a number of seconds as ISO 8601 has it. */
export const duration = (seconds: number) => `PT${Math.max(1, Math.ceil(seconds))}S`
