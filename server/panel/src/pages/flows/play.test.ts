// @vitest-environment jsdom
import { expect, test } from 'vitest'
import type { Simulation, Step } from './engine'
import { asked, duration, stepsOf, testOf, type Turn } from './play'

const step = (seq: number, node: string, output: string | null = 'out'): Step => ({ seq, node, type: 'message', output, path: [], at: 0, durationMs: 0, in: {}, out: {}, error: null, warning: null, retry: null })
const result = (more: Partial<Simulation>): Simulation => ({ messages: [], effects: [], steps: [], variables: {}, now: 0, waitingFor: null, until: null, ended: null, state: { at: 1 }, ...more })

const turns: Turn[] = [
  { happening: { send: 'hi' }, result: result({ steps: [step(1, 'start'), step(2, 'ask', null)], messages: [{ node: 'ask', at: 0, message: { type: 'text', text: 'Who?' } }], waitingFor: 'reply' }) },
  {
    happening: { send: { type: 'text', text: 'Ana', reply: { id: 'a', title: 'Ana' } } },
    result: result({
      steps: [step(2, 'ask'), step(3, 'tell'), step(4, 'picture')],
      messages: [{ node: 'picture', at: 0, message: { type: 'image' } }],
      effects: [
        { node: 'tell', at: 0, kind: 'event', data: {} },
        { node: 'tell', at: 0, kind: 'call', data: {} },
      ],
      ended: { status: 'completed', output: null, error: null },
    }),
  },
]

test('a conversation is asked for turn by turn', () => {
  expect(asked({ send: 'hi' }, undefined, { vars: {} })).toEqual({ given: { vars: {} }, input: 'hi' })
  expect(asked({ handoff: 'closed' }, turns[0], { vars: {} })).toEqual({ state: { at: 1 }, close: true })
  expect(asked({ advance: 'PT5S' }, turns[0], null)).toEqual({ state: { at: 1 }, advance: 'PT5S' })
  expect(duration(3600.2)).toBe('PT3601S')
})

test('a step that waited and went on is one', () => {
  expect(stepsOf(turns).map((one) => [one.seq, one.output])).toEqual([
    [1, 'out'],
    [2, 'out'],
    [3, 'out'],
    [4, 'out'],
  ])
})

test('what the flow did becomes what a test expects, in its order', () => {
  expect(testOf('Ana', turns, null)).toEqual({
    name: 'Ana',
    given: { input: { type: 'text', text: 'hi' } },
    steps: [
      { expect: 'Who?' },
      { expect: { waits: 'reply' } },
      { send: { type: 'text', text: 'Ana', reply: { id: 'a', title: 'Ana' } } },
      { expect: { did: 'event', node: 'tell' } },
      { expect: { did: 'send', node: 'picture' } },
      { expect: { ended: 'completed' } },
    ],
  })
})
