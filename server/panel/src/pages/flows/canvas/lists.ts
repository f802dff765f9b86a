import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, got, type Schemas } from '../../../api/client'
import { useMay } from '../../../session'
import { isRecord } from '../../../ui/schema-form/schema'
import type { Names } from './flow'
import type { CanvasProps } from './types'

export interface Option {
  value: string
  label: string
  /** Where it can be seen. */
  href?: string
}

/** Lists are what nodes may name; undefined: not known, so any name may be typed. */
export interface Lists {
  functions?: Option[] | undefined
  flows?: Option[] | undefined
  models?: Option[] | undefined
  servers?: Option[] | undefined
  credentials?: Option[] | undefined
  extractors?: Option[] | undefined
  /** Tools by the name of their server. */
  tools: Record<string, Option[]>
}

type Found = Schemas['FlowView']

const slugOf = (flow: Found) => (typeof flow.draft.slug === 'string' ? flow.draft.slug : '')

/** returnsOf are the names by which a function returns. */
function returnsOf(flow: Found): string[] {
  const nodes = isRecord(flow.draft.nodes) ? Object.values(flow.draft.nodes) : []
  const names = nodes.flatMap((node) => (isRecord(node) && node.type === 'return' ? [isRecord(node.config) && typeof node.config.name === 'string' ? node.config.name : 'default'] : []))
  return [...new Set(names)]
}

/** useLists reads what the nodes of a flow may name. */
export function useLists(project: string | undefined, owner: CanvasProps['owner'], engine: CanvasProps['engine']): { lists: Lists; names: Names } {
  const may = useMay('flows.manage')
  const mayExtract = useMay('extractors.manage')
  const all = { limit: 200 }
  const ai = engine === 'aiflow' && may
  const flows = useQuery({ queryKey: ['flows', project, 'names'], enabled: Boolean(project) && may, queryFn: () => got(api.GET('/aiflow/flow/list', { params: { query: { projectId: project ?? '', ...all } } })) })
  const models = useQuery({ queryKey: ['models'], enabled: ai, queryFn: () => got(api.GET('/aiflow/model')) })
  const servers = useQuery({ queryKey: ['servers'], enabled: ai, queryFn: () => got(api.GET('/aiflow/server', { params: { query: all } })) })
  const credentials = useQuery({ queryKey: ['credentials'], enabled: may, queryFn: () => got(api.GET('/aiflow/credential', { params: { query: all } })) })
  const extractors = useQuery({ queryKey: ['extractors', owner], enabled: Boolean(owner) && mayExtract, queryFn: () => got(api.GET('/extractor/list', { params: { query: { ...owner, ...all } } })) })
  return useMemo(() => {
    const found = flows.data?.items
    const named = (kind: string) => found?.filter((flow) => flow.draft.kind === kind && slugOf(flow)).map((flow) => ({ value: slugOf(flow), label: flow.name, href: `/flows/flow/${flow.id}` }))
    const lists: Lists = {
      functions: named('function'),
      flows: named('flow'),
      models: models.data?.items.map((model) => ({ value: model.id, label: model.title || model.id })),
      servers: servers.data?.items.map((server) => ({ value: server.name, label: server.name })),
      credentials: credentials.data?.items.map((one) => ({ value: one.id, label: one.name })),
      extractors: extractors.data?.items.map((one) => ({ value: one.id, label: `${one.name} (${one.kind})` })),
      tools: Object.fromEntries((servers.data?.items ?? []).map((server) => [server.name, server.tools.map((tool) => ({ value: tool.name, label: tool.name }))])),
    }
    const names: Names = (node, prefix) => {
      if (prefix === 'return:') {
        const flow = found?.find((one) => slugOf(one) === node.config?.function && one.draft.kind === 'function')
        return flow ? returnsOf(flow) : []
      }
      if (prefix === 'intent:') {
        const intents = extractors.data?.items.find((one) => one.id === node.config?.intents)?.config.intents
        return Array.isArray(intents) ? intents.flatMap((intent: unknown) => (isRecord(intent) && typeof intent.name === 'string' ? [intent.name] : [])) : []
      }
      return []
    }
    return { lists, names }
  }, [flows.data, models.data, servers.data, credentials.data, extractors.data])
}
