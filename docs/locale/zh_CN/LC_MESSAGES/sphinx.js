// What the scripts of a page say in Chinese: the book's own, and Sphinx's for the search.
Object.assign(Documentation.TRANSLATIONS, {
  "Copy": "复制",
  "Copy runnable": "复制可运行程序",
  "Copy with imports": "连同导入一起复制",
  "Copied": "已复制",
  "Not copied": "复制失败",
  "Copy the code as it is shown": "按显示的样子复制这段代码",
  "Copy it with everything it needs": "连同所需的一切一起复制",
  "Copy a program that runs alone, as it did here": "复制能单独运行的程序，与在这里运行的一样",
  "cell": "代码单元",
  "listing": "程序清单",
  "code": "代码",
  " · with ": " · 另有 ",
  "Read it offline (.zip)": "离线阅读（.zip）",
  ".": "。",
  "No page has these words. The book is in English; a message is best pasted as it was printed. These pages lead to all others.":
    "没有找到含有这些词的页面。报错最好原样粘贴。从下面的页面可以走到其他所有页面。",
  "Search Results": "搜索结果",
  "Searching": "正在搜索",
  "Preparing search...": "正在准备搜索……",
  "Hide Search Matches": "取消搜索词高亮",
  "Search finished, found one page matching the search query.": [
    "找到 1 个页面。",
    "找到 ${resultCount} 个页面。",
  ],
});
Documentation.LOCALE = "zh_CN";
