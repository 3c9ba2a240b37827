// What the scripts of a page say in Chinese: the book's own, and Sphinx's for the search.
Object.assign(Documentation.TRANSLATIONS, {
  "Copy": "复制",
  "Copy runnable": "复制可运行程序",
  "Copy with imports": "连同导入一起复制",
  "Copied": "已复制",
  "Not copied": "复制失败",
  "Copy the code as it is shown": "按显示的样子复制这段代码",
  "Copy it with everything it needs": "连同它需要的一切一起复制",
  "Copy a program that runs alone, as it did here": "复制一个能单独运行的程序，它在这里就是这样运行的",
  "cell": "代码单元",
  "listing": "程序清单",
  "code": "代码",
  " · with ": " · 另有 ",
  "Read it offline (.zip)": "离线阅读（.zip）",
  ".": "。",
  "No page has these words. The book is in English; a message is best pasted as it was printed. These pages lead to all others.":
    "没有页面含有这些词。报错最好原样贴上。下面这些页面通向其他所有页面。",
  "Search Results": "搜索结果",
  "Searching": "正在搜索",
  "Preparing search...": "正在准备搜索……",
  "Hide Search Matches": "不再标出搜索的词",
  "Search finished, found one page matching the search query.": [
    "找到一个页面。",
    "找到 ${resultCount} 个页面。",
  ],
});
Documentation.LOCALE = "zh_CN";
