import { api, got, type Schemas } from '../../api/client'

export type FlowProblem = Schemas['FlowProblem']
export type Document = Record<string, unknown>
export type Version = Schemas['VersionView']
export type Simulation = Schemas['Simulation']
export type SimulationInput = Schemas['SimulationInput']
export type Report = Schemas['TestReport']
export type RunDetail = Schemas['RunDetail']
export type Step = Schemas['StepView']

/** Opened is a bot or a flow as the editor has it from the server. */
export interface Opened {
  id: string
  name: string
  document: Document
  problems: FlowProblem[]
  /** What is published; 0: nothing is. */
  version: number
  /** Raised by every change; a change of an older one is refused. */
  revision: number
  /** The reference of a bot, or the project of a flow. */
  reference?: number
  project?: string
  active: boolean
}

export type EngineName = 'bot' | 'flow'

/** Engine is what the API does for bots and for flows of projects alike. */
export interface Engine {
  name: EngineName
  /** Where it is in the API, as /bot/1. */
  path: (id: string) => string
  read: (id: string) => Promise<Opened>
  /** base is the revision that the change began from; null: whatever is there. */
  save: (id: string, document: Document, base: number | null) => Promise<Opened>
  rename: (id: string, name: string) => Promise<Opened>
  copy: (of: Opened, name: string, document: Document) => Promise<Opened>
  delete: (id: string) => Promise<unknown>
  publish: (id: string) => Promise<Opened>
  /** rollback makes a version the one that answers, and the draft. */
  rollback: (id: string, version: Version) => Promise<Opened>
  versions: (id: string, cursor?: string) => Promise<{ items: Version[]; next: string | null }>
  simulate: (id: string, body: SimulationInput) => Promise<Simulation>
  tests: (id: string) => Promise<Document[]>
  setTests: (id: string, tests: Document[]) => Promise<unknown>
  test: (id: string, tests?: Document[]) => Promise<Report>
  run: (run: string) => Promise<RunDetail>
  runs: (id: string) => Promise<{ items: Schemas['RunView'][]; next: string | null }>
}

const ofBot = (bot: Schemas['BotView']): Opened => ({
  id: bot.id,
  name: bot.name,
  document: bot.flow,
  problems: bot.problems,
  version: bot.version,
  revision: bot.revision,
  reference: bot.reference,
  active: bot.active,
})

const ofFlow = (flow: Schemas['FlowView']): Opened => ({
  id: flow.id,
  name: flow.name,
  document: flow.draft,
  problems: flow.problems,
  version: flow.published?.version ?? 0,
  revision: flow.revision,
  project: flow.projectId,
  active: true,
})

const match = (base: number | null) => (base === null ? {} : { header: { 'If-Match': `"${base}"` } })
const after = (cursor: string | undefined) => ({ limit: 200, ...(cursor ? { cursor } : {}) })

const ofId = (botId: string) => ({ params: { path: { botId } } })
const bot: Engine = {
  name: 'bot',
  path: (id) => `/bot/${id}`,
  read: async (id) => ofBot(await got(api.GET('/bot/{botId}', ofId(id)))),
  save: async (botId, flow, base) => ofBot(await got(api.PATCH('/bot/{botId}', { params: { path: { botId }, ...match(base) }, body: { flow } }))),
  rename: async (id, name) => ofBot(await got(api.PATCH('/bot/{botId}', { ...ofId(id), body: { name } }))),
  copy: async (of, name, flow) => ofBot(await got(api.POST('/bot', { body: { reference: of.reference ?? 0, name, flow } }))),
  delete: (id) => got(api.DELETE('/bot/{botId}', ofId(id))),
  publish: async (id) => ofBot(await got(api.POST('/bot/{botId}/publish', ofId(id)))),
  rollback: async (id, { document }) => {
    await bot.save(id, document, null)
    return bot.publish(id)
  },
  versions: (botId, cursor) => got(api.GET('/bot/{botId}/versions', { params: { path: { botId }, query: after(cursor) } })),
  simulate: (id, body) => got(api.POST('/bot/{botId}/simulate', { ...ofId(id), body })),
  tests: async (id) => (await got(api.GET('/bot/{botId}/test', ofId(id)))).tests,
  setTests: (id, tests) => got(api.PUT('/bot/{botId}/test', { ...ofId(id), body: { tests } })),
  test: (id, tests) => got(api.POST('/bot/{botId}/test', { ...ofId(id), body: tests ? { tests } : {} })),
  run: (runId) => got(api.GET('/bot/run/{runId}', { params: { path: { runId } } })),
  runs: (botId) => got(api.GET('/bot/{botId}/runs', { params: { path: { botId }, query: { limit: 20 } } })),
}

const ofFlowId = (flowId: string) => ({ params: { path: { flowId } } })
const flow: Engine = {
  name: 'flow',
  path: (id) => `/aiflow/flow/${id}`,
  read: async (id) => ofFlow(await got(api.GET('/aiflow/flow/{flowId}', ofFlowId(id)))),
  save: async (flowId, draft, base) => ofFlow(await got(api.PATCH('/aiflow/flow/{flowId}', { params: { path: { flowId }, ...match(base) }, body: { draft } }))),
  rename: async (id, name) => ofFlow(await got(api.PATCH('/aiflow/flow/{flowId}', { ...ofFlowId(id), body: { name } }))),
  copy: async (of, name, draft) => ofFlow(await got(api.POST('/aiflow/flow', { body: { projectId: of.project ?? '', name, draft } }))),
  delete: (id) => got(api.DELETE('/aiflow/flow/{flowId}', ofFlowId(id))),
  publish: async (id) => ofFlow(await got(api.POST('/aiflow/flow/{flowId}/publish', ofFlowId(id)))),
  rollback: async (id, { version }) => ofFlow(await got(api.POST('/aiflow/flow/{flowId}/rollback', { ...ofFlowId(id), body: { version } }))),
  versions: (flowId, cursor) => got(api.GET('/aiflow/flow/{flowId}/versions', { params: { path: { flowId }, query: after(cursor) } })),
  simulate: (id, body) => got(api.POST('/aiflow/flow/{flowId}/simulate', { ...ofFlowId(id), body })),
  tests: async (id) => (await got(api.GET('/aiflow/flow/{flowId}/test', ofFlowId(id)))).tests,
  setTests: (id, tests) => got(api.PUT('/aiflow/flow/{flowId}/test', { ...ofFlowId(id), body: { tests } })),
  test: (id, tests) => got(api.POST('/aiflow/flow/{flowId}/test', { ...ofFlowId(id), body: tests ? { tests } : {} })),
  run: (runId) => got(api.GET('/aiflow/run/{runId}', { params: { path: { runId } } })),
  runs: (flowId) => got(api.GET('/aiflow/run', { params: { query: { flowId, limit: 20 } } })),
}

export const engines: Record<EngineName, Engine> = { bot, flow }

/** versionsOf are all versions, the newest first. */
export async function versionsOf(engine: Engine, id: string): Promise<Version[]> {
  const all: Version[] = []
  let cursor: string | undefined
  do {
    const page = await engine.versions(id, cursor)
    all.push(...page.items)
    cursor = page.next ?? undefined
  } while (cursor)
  return all.reverse()
}

/** slugOf is a name as documents have it. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+|-+$/g, '').slice(0, 64) || 'flow'
}

/** copyOf is a document under another name. */
export const copyOf = (document: Document, name: string): Document => ({ ...document, name: [...name].slice(0, 128).join(''), slug: slugOf(name) })
