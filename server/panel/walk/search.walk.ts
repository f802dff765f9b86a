import { afterAll, beforeAll, expect, test } from 'vitest'
import { Server, Visitor } from './world'

const server = new Server()
let visitor: Visitor
let token: string
let reference: number
let other: number

beforeAll(async () => {
  await server.start()
  visitor = await Visitor.open(server)
  token = await visitor.signUp(server)
  const create = async (name: string) => (await server.call<{ id: number }>(token, 'POST', '/reference', { name, type: 'provider-sandbox' })).id
  reference = await create('Shop')
  other = await create('Support')
  await write(reference, 'ana', 'the invoice of Núñez is <b>wrong</b>')
  for (let at = 0; at < 260; at++) await write(reference, 'ana', `message ${at}`)
  await write(other, 'ben', 'no invoice came')
  for (let at = 0; at < 60; at++) await write(other, 'carla', `parcel ${at}`)
})

afterAll(async () => {
  await visitor.end(server)
})

const write = (where: number, from: string, text: string) => server.call(token, 'POST', `/sandbox/${where}/messages`, { from, name: from, type: 'text', text })
const messages = () => visitor.page.getByRole('region', { name: 'Messages', exact: true })
const found = () => visitor.page.getByRole('region', { name: 'Messages found' })
const field = () => visitor.page.getByLabel('Search all messages')
const inSight = (text: string) => messages().getByText(text, { exact: true }).evaluate((element) => {
  const box = element.getBoundingClientRect()
  const list = element.closest('.virtual')?.getBoundingClientRect()
  return list !== undefined && box.top >= list.top && box.bottom <= list.bottom
})

test('a message is found in all conversations, and shown in its thread', async () => {
  const { page } = visitor
  await page.goto(`${server.url}/panel/inbox/${other}`)
  await page.getByRole('button', { name: 'Messages', exact: true }).click()
  await page.getByText('Write words of a message').waitFor()
  await field().fill('invoice')
  await expect.poll(() => found().getByRole('link').count()).toBe(2)
  await expect.poll(() => found().locator('mark').allInnerTexts()).toEqual(['invoice', 'invoice'])
  await visitor.look('inbox-search')
  const begun = Date.now()
  await field().fill('nunez')
  await expect.poll(() => found().getByRole('link').count()).toBe(1)
  await found().getByRole('link', { name: 'Shop' }).click()
  await expect.poll(() => inSight('the invoice of Núñez is <b>wrong</b>')).toBe(true)
  expect(Date.now() - begun).toBeLessThan(5_000)
  await expect.poll(() => page.locator('.bubble[aria-current]').innerText()).toContain('Núñez')
  expect(new URL(page.url()).pathname).toContain(`/inbox/${reference}/ana`)
  await visitor.look('inbox-search-jump')
})

test('from there the thread goes on to its newest message', async () => {
  const { page } = visitor
  await page.reload()
  await expect.poll(() => inSight('the invoice of Núñez is <b>wrong</b>')).toBe(true)
  await messages().focus()
  await expect
    .poll(async () => {
      await page.keyboard.press('End')
      return messages().getByText('message 259', { exact: true }).count()
    })
    .toBe(1)
  await write(reference, 'ana', 'and another')
  await messages().getByText('and another', { exact: true }).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('message')).toBe(null)
})

test('a search goes on page by page, and is narrowed', async () => {
  const { page } = visitor
  await field().fill('parcel')
  await expect.poll(() => found().getByRole('link').count()).toBe(50)
  await found().getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => found().getByRole('link').count()).toBe(60)
  await page.getByText('Dates and references').click()
  await page.getByLabel('Only this reference').check()
  await page.getByText('No message matches.').waitFor()
  await page.getByLabel('Only this reference').uncheck()
  await page.getByLabel('Until').fill('2020-01-31')
  await page.getByText('No message matches.').waitFor()
  await page.getByLabel('Until').fill('')
  await page.getByLabel('From', { exact: true }).fill('2020-01-31')
  await expect.poll(() => found().getByRole('link').count()).toBe(50)
  await page.reload()
  await expect.poll(() => found().getByRole('link').count()).toBe(50)
})

test('a message that is no longer there is said to be gone', async () => {
  const { page } = visitor
  visitor.expected.push(/422|404/)
  await page.goto(`${server.url}/panel/inbox/${reference}/${encodeURIComponent('ana@sandbox')}?message=nothing`)
  await page.getByText('This message is no longer there.').waitFor()
  await messages().getByText('and another', { exact: true }).waitFor()
})

test('a search fits a phone', async () => {
  const { page } = visitor
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(`${server.url}/panel/inbox/${other}?in=messages&search=invoice`)
  await found().getByRole('link', { name: 'Shop' }).waitFor()
  await visitor.fits()
  await visitor.look('inbox-search-phone')
  await found().getByRole('link', { name: 'Shop' }).click()
  await expect.poll(() => inSight('the invoice of Núñez is <b>wrong</b>')).toBe(true)
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await expect.poll(() => found().getByRole('link').count()).toBe(2)
})
