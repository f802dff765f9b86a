import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
})

afterAll(async () => {
  await visitor.end(server)
})

test('a newcomer signs up and sees what to do first', async () => {
  await visitor.signUp(server)
  await visitor.page.getByRole('heading', { name: 'First steps' }).waitFor()
  await visitor.look('home')
  await visitor.page.getByLabel('Language').selectOption('pt')
  await visitor.page.getByRole('heading', { name: 'Primeiros passos' }).waitFor()
  await visitor.page.getByLabel('Idioma').selectOption('en')
  await visitor.page.getByRole('heading', { name: 'First steps' }).click()
  await visitor.page.keyboard.press('?')
  await visitor.page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await visitor.look('keys')
  await visitor.page.keyboard.press('Escape')
})

test('the check of accessibility sees what is wrong', async () => {
  await visitor.page.evaluate(() => {
    document.querySelector('main')?.append(Object.assign(document.createElement('button'), { id: 'nameless' }))
  })
  expect((await visitor.faults()).join()).toContain('button-name')
  await visitor.page.evaluate(() => document.getElementById('nameless')?.remove())
})
