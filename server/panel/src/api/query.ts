import { QueryClient, useInfiniteQuery } from '@tanstack/react-query'
import { Problem } from './client'

/** client keeps what was read. What fails for now is asked again; what is refused is not. */
export const client = new QueryClient({
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
  return { ...query, items: query.data?.pages.flatMap((page) => page.items) ?? [] }
}
