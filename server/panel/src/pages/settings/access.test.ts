import { expect, test } from 'vitest'
import { readAccess, writeAccess } from './access'

const limitable = new Set(['chats.read', 'chats.send'])

test('permissions without limits are read and written as they are', () => {
  const permissions = ['users.manage', 'chats.read']
  expect(readAccess(permissions, limitable)).toEqual({ names: permissions, references: [] })
  expect(writeAccess({ names: permissions, references: [] }, limitable)).toEqual(permissions)
})

test('one set of references limits every permission that can be limited', () => {
  const permissions = ['chats.read@3', 'chats.read@17', 'chats.send@3', 'chats.send@17', 'mcp.execute']
  const access = { names: ['chats.read', 'chats.send', 'mcp.execute'], references: [3, 17] }
  expect(readAccess(permissions, limitable)).toEqual(access)
  expect(writeAccess({ ...access, references: [17, 3] }, limitable)).toEqual(permissions)
})

test('different limits are not shown as one', () => {
  expect(readAccess(['chats.read', 'chats.send@3'], limitable)).toBeNull()
  expect(readAccess(['chats.read@1', 'chats.send@3'], limitable)).toBeNull()
})
