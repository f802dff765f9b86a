// @vitest-environment jsdom
import { InfiniteQueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { client, type Page, patch, refreshHead } from './query'

interface Item {
  id: string
  read?: boolean
}
const id = (item: Item) => item.id

test('what comes while an older page is read is not lost with its answer', async () => {
  const key = ['list']
  let answer = (_: Page<Item>) => {}
  const read = (cursor: string | undefined): Promise<Page<Item>> => (cursor ? new Promise((done) => (answer = done)) : Promise.resolve({ items: [{ id: '2' }], next: '2' }))
  const list = new InfiniteQueryObserver<Page<Item>, Error, { pages: Page<Item>[] }, string[], string | undefined>(client, {
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next ?? undefined,
  })
  const stop = list.subscribe(() => {})
  await expect.poll(() => list.getCurrentResult().isSuccess).toBe(true)
  const older = list.fetchNextPage()
  const newer = refreshHead<Item>(key, () => Promise.resolve({ items: [{ id: '3' }, { id: '2' }], next: '2' }), id)
  patch<Item>(key, id, '1', (item) => ({ ...item, read: true }))
  await expect.poll(() => client.isFetching()).toBe(1)
  answer({ items: [{ id: '1' }] })
  await Promise.all([older, newer])
  const items = client.getQueryData<{ pages: Page<Item>[] }>(key)?.pages.flatMap((page) => page.items)
  expect(items).toEqual([{ id: '3' }, { id: '2' }, { id: '1', read: true }])
  stop()
})
