// @vitest-environment jsdom
import { InfiniteQueryObserver, QueryObserver } from '@tanstack/react-query'
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

test('the first page is read once at a time, so that its items come in their order', async () => {
  const key = ['thread']
  client.setQueryData(key, { pages: [{ items: [{ id: '1' }], next: null }], pageParams: [undefined] })
  const answers: ((page: Page<Item>) => void)[] = []
  const read = () => new Promise<Page<Item>>((done) => answers.push(done))
  const first = refreshHead<Item>(key, read, id)
  await refreshHead<Item>(key, read, id)
  await refreshHead<Item>(key, read, id)
  expect(answers.length).toBe(1)
  answers[0]?.({ items: [{ id: '2' }] })
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.({ items: [{ id: '3' }] })
  await first
  expect(answers.length).toBe(2)
  expect(client.getQueryData<{ pages: Page<Item>[] }>(key)?.pages.flatMap((page) => page.items.map(id))).toEqual(['3', '2', '1'])
})

test('what became stale during its first read is read again', async () => {
  const answers: ((value: string) => void)[] = []
  const observer = new QueryObserver(client, {
    queryKey: ['first'],
    queryFn: () => new Promise<string>((done) => answers.push(done)),
  })
  const stop = observer.subscribe(() => {})
  const renewed = client.invalidateQueries({ queryKey: ['first'] })
  answers[0]?.('before')
  await expect.poll(() => answers.length).toBe(2)
  answers[1]?.('after')
  await renewed
  expect(client.getQueryData(['first'])).toBe('after')
  stop()
})
