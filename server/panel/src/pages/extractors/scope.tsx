import { useQuery } from '@tanstack/react-query'
import { api, got, type Schemas } from '../../api/client'
import { useMay } from '../../session'
import { t } from '../../text'
import { useReferences } from '../../ui/reference-choice'

export type Scope = Schemas['ExtractorScope']

/** written is a scope as one word, for addresses and choices. */
export function written(scope: Scope): string {
  if (scope.bot) return `bot:${scope.bot}`
  if (scope.flow) return `flow:${scope.flow}`
  return `reference:${scope.reference ?? 0}`
}

/** read is the scope of such a word. */
export function read(word: string): Scope {
  const at = word.indexOf(':')
  const [kind, id] = [word.slice(0, at), word.slice(at + 1)]
  if (kind === 'bot') return { bot: id }
  if (kind === 'flow') return { flow: id }
  return Number(id) > 0 ? { reference: Number(id) } : {}
}

/** useScopes are the references, bots and flows whose messages extractors can read. */
export function useScopes(): { value: string; label: string }[] {
  const may = useMay('flows.manage')
  const references = useReferences()
  const bots = useQuery({ queryKey: ['bots', 'all'], queryFn: () => got(api.GET('/bot/list', { params: { query: { limit: 200 } } })), enabled: may })
  const flows = useQuery({ queryKey: ['flows', 'all'], queryFn: () => got(api.GET('/aiflow/flow/list', { params: { query: { limit: 200 } } })), enabled: may })
  return [
    ...(references.data?.items ?? []).map((reference) => ({ value: `reference:${reference.id}`, label: t('extractors.ofReference', { name: reference.name }) })),
    ...(bots.data?.items ?? []).map((bot) => ({ value: `bot:${bot.id}`, label: t('extractors.ofBot', { name: bot.name }) })),
    ...(flows.data?.items ?? []).map((flow) => ({ value: `flow:${flow.id}`, label: t('extractors.ofFlow', { name: flow.name }) })),
  ]
}

/** nameOf is a scope in words. */
export function nameOf(scope: Scope, scopes: { value: string; label: string }[]): string {
  const word = written(scope)
  return scopes.find((one) => one.value === word)?.label ?? word
}
