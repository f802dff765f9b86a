import { hashKey, type InfiniteData, type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Problem } from './client'

/**
 * A first read that is under way may have been answered before what makes it
 * stale. The library does not begin it again, so it is read again when it ends.
 */
class Client extends QueryClient {
  override async invalidateQueries<K extends QueryKey = QueryKey>(filters?: InvalidateQueryFilters<K>, options?: InvalidateOptions): Promise<void> {
    const first = this.getQueryCache()
      .findAll({ ...filters, fetchStatus: 'fetching' })
      .filter((query) => query.state.data === undefined)
    await super.invalidateQueries(filters, options)
    await Promise.all(first.map((query) => super.invalidateQueries({ queryKey: query.queryKey, exact: true }, options)))
  }
}

/** client keeps what was read. What fails for now is asked again; what is refused is not. */
export const client = new Client({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      retry: (failed, error) => failed < 3 && error instanceof Problem && (error.status === 0 || error.status >= 500),
      retryDelay: (failed) => Math.min(1_000 * 2 ** failed, 15_000),
    },
  },
})

export interface Page<T> {
  items: T[]
  next?: string | null
}

/** usePages reads a list page by page: items are all that have been read. */
export function usePages<T>(key: readonly unknown[], read: (cursor: string | undefined) => Promise<Page<T>>, enabled = true) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    enabled,
  })
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data])
  return { ...query, items }
}

/** refreshing are the lists whose first page is being read, and whether it has to be read again after that. */
const refreshing = new Map<string, boolean>()

/**
 * refreshHead reads the first page of a list again and puts it before what is
 * known of the rest, so that a long list need not be read as a whole. It is read
 * once at a time: two answers might come in the wrong order, and the items with them.
 */
export async function refreshHead<T>(key: readonly unknown[], read: (cursor: string | undefined) => Promise<Page<T>>, id: (item: T) => string) {
  const name = hashKey(key)
  if (refreshing.has(name)) {
    refreshing.set(name, true)
    return
  }
  do {
    refreshing.set(name, false)
    const head = await Promise.race([read(undefined), late()]).catch(() => undefined)
    if (head) await change<T>(key, (known) => withHead(known, head, id)) // else what is new comes with what is next, or when the stream is back
  } while (refreshing.get(name))
  refreshing.delete(name)
}

/** late ends the wait for an answer that does not come. */
const late = () => new Promise<undefined>((done) => setTimeout(done, 30_000))

function withHead<T>(known: Pages<T> | undefined, head: Page<T>, id: (item: T) => string): Pages<T> {
  if (!known || known.pages.length === 0) return { pages: [head], pageParams: [undefined] }
  const fresh = new Set(head.items.map(id))
  const [first, ...rest] = known.pages.map((page) => ({ ...page, items: page.items.filter((item) => !fresh.has(id(item))) }))
  return { ...known, pages: [{ items: [...head.items, ...(first?.items ?? [])], next: first?.next ?? null }, ...rest] }
}

/** patch changes what is known of one item of a list. */
export function patch<T>(key: readonly unknown[], id: (item: T) => string, which: string, make: (item: T) => T) {
  void change<T>(key, (known) => known && { ...known, pages: known.pages.map((page) => ({ ...page, items: page.items.map((item) => (id(item) === which ? make(item) : item)) })) })
}

type Pages<T> = InfiniteData<Page<T>, string | undefined>

/**
 * change changes what is known of a list once nothing of it is being read: what
 * comes of that is put in place of all that was known when it was asked for.
 */
async function change<T>(key: readonly unknown[], make: (known: Pages<T> | undefined) => Pages<T> | undefined) {
  const cache = client.getQueryCache()
  const reading = () => cache.find({ queryKey: key })?.state.fetchStatus === 'fetching'
  while (reading()) {
    await new Promise<void>((done) => {
      const stop = cache.subscribe(() => {
        if (reading()) return
        stop()
        done()
      })
    })
  }
  client.setQueryData<Pages<T>>(key, make)
}
