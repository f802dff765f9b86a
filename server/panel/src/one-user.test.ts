// @vitest-environment jsdom
import { expect, test } from 'vitest'
import { oneUser } from './one-user'

test('a tab hears of another user, and not of its own', async () => {
  const heard: string[] = []
  const ends = [oneUser('ana', () => heard.push('ana')), oneUser('ana', () => heard.push('ana again'))]
  ends.push(oneUser('ben', () => heard.push('ben')))
  await expect.poll(() => heard.toSorted()).toEqual(['ana', 'ana again'])
  for (const end of ends) end()
  const last = oneUser('eve', () => heard.push('eve'))
  await new Promise((done) => setTimeout(done, 50))
  last()
  expect(heard).toHaveLength(2)
})
