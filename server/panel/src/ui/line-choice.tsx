import { useQuery } from '@tanstack/react-query'
import { api, got, type Schemas } from '../api/client'
import { t } from '../text'
import { Select } from './field'
import { useGo } from './query-state'

export type Reference = Schemas['MessagingReference']

/** useLines are the lines of the account, at most 200. */
export function useLines(enabled = true) {
  return useQuery({ queryKey: ['references'], queryFn: () => got(api.GET('/reference/list', { params: { query: { limit: 200 } } })), enabled })
}

/**
 * useLine is the line of an address, else the first, and those to choose from.
 * A line that is not among the first 200 is read by itself; one that is not
 * there is an error, so that no other is taken for it.
 */
export function useLine(id: string | undefined) {
  const all = useLines()
  const listed = all.data?.items ?? []
  const found = id ? listed.find((one) => String(one.id) === id) : listed[0]
  const alone = useQuery({ queryKey: ['reference', Number(id)], queryFn: () => got(api.GET('/reference/{id}', { params: { path: { id: Number(id) } } })), enabled: Boolean(id) && all.isSuccess && !found })
  const line = found ?? (id ? alone.data : undefined)
  return {
    line,
    lines: line && !found ? [...listed, line] : listed,
    isPending: all.isPending || (alone.isPending && alone.fetchStatus !== 'idle'),
    error: all.error ?? (found ? null : alone.error),
    refetch: () => Promise.all([all.refetch(), ...(alone.error ? [alone.refetch()] : [])]),
  }
}

/** LineChoice leads to the same page of another line. */
export function LineChoice({ value, lines, to }: { value: number; lines: Reference[]; to: (id: number) => string }) {
  const go = useGo()
  return (
    <Select
      label={t('line')}
      value={String(value)}
      onChange={(event) => go(to(Number(event.target.value)))}
      options={lines.map((line) => ({ value: String(line.id), label: line.name }))}
    />
  )
}
