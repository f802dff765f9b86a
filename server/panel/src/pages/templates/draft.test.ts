import { expect, test } from 'vitest'
import { at, blank, componentsOf, type Draft, draftOf, draftShown, nameOf, nextVariable } from './draft'
import { starters } from './starters'

const order: Draft = {
  ...blank,
  name: 'order',
  header: 'TEXT',
  headerText: 'Order {{1}}',
  body: 'Hello {{1}}, it comes on {{2}}.',
  footer: 'The shop',
  examples: { 'header.1': '7', 'body.1': 'Ana', 'body.2': 'Monday' },
  buttons: [
    { type: 'QUICK_REPLY', text: 'Thanks', value: '', example: '' },
    { type: 'URL', text: 'Track', value: 'https://shop.example/{{1}}', example: 'o7' },
    { type: 'PHONE_NUMBER', text: 'Call', value: '+351210000000', example: '' },
    { type: 'COPY_CODE', text: '', value: 'SAVE20', example: '' },
  ],
}

test('a draft becomes what the network takes', () => {
  expect(componentsOf(order)).toEqual([
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['7'] } },
    { type: 'BODY', text: 'Hello {{1}}, it comes on {{2}}.', example: { body_text: [['Ana', 'Monday']] } },
    { type: 'FOOTER', text: 'The shop' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Thanks' },
        { type: 'URL', text: 'Track', url: 'https://shop.example/{{1}}', example: ['o7'] },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+351210000000' },
        { type: 'COPY_CODE', example: ['SAVE20'] },
      ],
    },
  ])
  expect(at(order, 'BODY')).toBe('components[1]')
  expect(at({ ...order, header: 'NONE' }, 'BUTTONS')).toBe('components[2]')
  expect(draftShown(order).text).toBe('Hello Ana, it comes on Monday.')
})

test('an example that is missing leaves none, so that it is asked for', () => {
  const body = componentsOf({ ...order, examples: { 'body.1': 'Ana' } })[1]
  expect(body?.example).toEqual({ body_text: [] })
})

test('named variables have named examples', () => {
  const named = { ...blank, named: true, body: 'Hello {{first_name}}!', examples: { 'body.first_name': 'Ana' } }
  expect(componentsOf(named)[0]?.example).toEqual({ body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] })
})

test('an authentication has the text of the network', () => {
  const code: Draft = { ...order, category: 'AUTHENTICATION', minutes: '5', copy: 'Copy' }
  expect(componentsOf(code)).toEqual([
    { type: 'BODY', add_security_recommendation: true },
    { type: 'FOOTER', code_expiration_minutes: 5 },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
  ])
  expect(draftShown(code).text).toContain('123456')
})

test('a copy of a template is the template', () => {
  const copy = draftOf({ name: 'order', category: 'UTILITY', language: 'en_US', components: componentsOf(order) })
  expect(componentsOf({ ...copy, examples: order.examples })).toEqual(componentsOf(order))
  expect(draftOf({ name: 'x', category: 'CAROUSELS', language: 'en', components: [null, 3, { type: 'CAROUSEL' }] }).body).toBe('')
})

test('starters have an example for each variable', () => {
  for (const starter of starters) {
    for (const part of componentsOf(starter.draft)) {
      const empty = JSON.stringify(part.example ?? {}).includes('[]')
      expect(empty, starter.draft.name).toBe(false)
    }
  }
})

test('names and variables', () => {
  expect(nameOf('Order Shipped – Nº 2')).toBe('order_shipped__n_2')
  expect(nextVariable('Hi {{1}} {{3}}', false)).toBe('{{2}}')
  expect(nextVariable('Hi {{name_1}}', true)).toBe('{{name_2}}')
})
