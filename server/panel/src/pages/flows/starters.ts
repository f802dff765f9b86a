/** slugOf is a name as other documents have it. */
function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+|-+$/g, '').slice(0, 64) || 'flow'
}

/** starters are flows to begin with. */
export const starters = {
  greet: (name: string) => ({
    format: 'trunkline-flow/1',
    kind: 'flow',
    slug: slugOf(name),
    name,
    start: 'start',
    nodes: {
      start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'hello' } },
      hello: { type: 'message', config: { text: 'Hello {{ contact.name }}!' }, next: { out: 'end' } },
      end: { type: 'end' },
    },
  }),
  menu: (name: string) => ({
    format: 'trunkline-flow/1',
    kind: 'flow',
    slug: slugOf(name),
    name,
    start: 'start',
    variables: { choice: { type: 'string' } },
    nodes: {
      start: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'ask' } },
      ask: {
        type: 'question',
        config: {
          prompt: { kind: 'buttons', text: 'How can we help?', buttons: [{ id: 'price', title: 'Prices' }, { id: 'person', title: 'A person' }] },
          expect: 'choice',
          choices: [{ id: 'price', title: 'Prices' }, { id: 'person', title: 'A person' }],
          saveTo: 'choice',
        },
        next: { out: 'which' },
      },
      which: { type: 'condition', config: { branches: [{ id: 'person', when: "vars.choice == 'person'" }] }, next: { person: 'hand', else: 'price' } },
      price: { type: 'message', config: { text: 'It costs 20 €.' } },
      hand: { type: 'handoff', config: { target: 'shop' } },
    },
  }),
} as const

export type Starter = keyof typeof starters
