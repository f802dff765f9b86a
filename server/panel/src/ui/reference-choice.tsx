import { useQuery } from '@tanstack/react-query'
import { api, got, type Schemas } from '../api/client'
import { t } from '../text'
import { Select } from './field'
import { useGo } from './query-state'

export type Reference = Schemas['MessagingReference']

/** useReferences are the references of the account, at most 200. */
export function useReferences(enabled = true) {
  return useQuery({ queryKey: ['references'], queryFn: () => got(api.GET('/reference/list', { params: { query: { limit: 200 } } })), enabled })
}

/**
 * useReference is the reference of an address, else the first, and those to choose from.
 * A reference that is not among the first 200 is read by itself; one that is not
 * there is an error, so that no other is taken for it.
 */
export function useReference(id: string | undefined) {
  const all = useReferences()
  const listed = all.data?.items ?? []
  const found = id ? listed.find((one) => String(one.id) === id) : listed[0]
  const alone = useQuery({ queryKey: ['reference', Number(id)], queryFn: () => got(api.GET('/reference/{id}', { params: { path: { id: Number(id) } } })), enabled: Boolean(id) && all.isSuccess && !found })
  const reference = found ?? (id ? alone.data : undefined)
  return {
    reference,
    references: reference && !found ? [...listed, reference] : listed,
    isPending: all.isPending || (alone.isPending && alone.fetchStatus !== 'idle'),
    error: (all.data ? null : all.error) ?? (reference ? null : alone.error),
    refetch: () => Promise.all([all.refetch(), ...(alone.error ? [alone.refetch()] : [])]),
  }
}

/** ReferenceChoice leads to the same page of another reference. */
export function ReferenceChoice({ value, references, to }: { value: number; references: Reference[]; to: (id: number) => string }) {
  const go = useGo()
  return (
    <Select
      label={t('reference')}
      value={String(value)}
      onChange={(event) => go(to(Number(event.target.value)))}
      options={references.map((reference) => ({ value: String(reference.id), label: reference.name }))}
    />
  )
}
